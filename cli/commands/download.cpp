// download, wheel and mirror: save what would be installed as files.
#include <filesystem>
#include <string>
#include <system_error>

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/saved_files.h"
#include "index/http/redaction.h"
#include "index/publish/static_index.h"
#include "index/storage/storage_address.h"
#include "session/storage/storage_access.h"

namespace axle::cli {

namespace {

session::Outcome<session::SavePlace> folder_place(const session::Arguments& given,
                                                  session::Opt option) {
  const std::string named = given.has(option) ? given.value(option) : ".";
  if (named.empty()) return session::misused(session::option_name(option) + " names no folder");
  std::error_code error;
  std::filesystem::path folder = std::filesystem::absolute(named, error).lexically_normal();
  if (error) return session::failed({ErrorKind::io, named + ": " + error.message(), {}});
  if (!folder.has_filename() && folder.has_parent_path()) folder = folder.parent_path();
  return session::SavePlace{folder.string(), {}};
}

/// Files arrive in the cache, since a storage has no place beside it.
session::Outcome<session::SavePlace> stored_place(const session::Session& session) {
  const std::string& named = session.arguments().value(session::Opt::out);
  if (!index::is_storage_address(named)) {
    const std::string shown = index::redact_url(named);
    session::SavePlace place{session::arriving_folder(session, shown), named};
    place.shown_index = shown;
    return place;
  }
  const auto address = index::parse_storage_address(named);
  if (!address) return session::misused(address.error().message, address.error().hint);
  return session::SavePlace{session::arriving_folder(session, address->text()), address->text()};
}

/// Files arrive beside the index, on the same disk.
session::Outcome<session::SavePlace> mirror_place(const session::Session& session) {
  const session::Arguments& given = session.arguments();
  if (given.value(session::Opt::out).empty())
    return session::misused(
        "no place for the mirror",
        "name a folder with --out DIR, a storage with --out s3://BUCKET/PREFIX, or a folder of a "
        "WebDAV server with --out https://HOST/FOLDER");
  if (index::is_stored_elsewhere(given.value(session::Opt::out))) return stored_place(session);
  auto found = index::find_static_index(given.value(session::Opt::out));
  if (!found) return session::failed(std::move(found).error());
  const std::filesystem::path index = *std::move(found);
  std::error_code error;
  const std::filesystem::path here = std::filesystem::current_path(error);
  const std::string between = error ? std::string() : here.lexically_relative(index).string();
  if (!between.empty() && !between.starts_with("..")) {
    return session::misused(
        fmt::format("the mirror {} is the working folder, or has it inside", index.string()),
        "every change of the mirror replaces it: call the command from another folder");
  }
  const std::string arriving = "." + index.filename().string() + "-arriving";
  return session::SavePlace{(index.parent_path() / arriving).string(), index.string()};
}

/// `folder`: the option that names where the files are put.
int save_to(session::Session& session, session::Opt folder, Output& output) {
  const session::Arguments& given = session.arguments();
  if (const auto named = check_something_is_named(given); !named)
    return output.failure(named.error());
  const auto place =
      folder == session::Opt::out ? mirror_place(session) : folder_place(given, folder);
  return place ? save_files(session, *place, output) : output.failure(place.error());
}

}  // namespace

int run_download(session::Session& session, Output& output) {
  return save_to(session, session::Opt::dest, output);
}

int run_mirror(session::Session& session, Output& output) {
  return save_to(session, session::Opt::out, output);
}

int run_wheel(session::Session& session, Output& output) {
  return save_to(session, session::Opt::wheel_dir, output);
}

}  // namespace axle::cli
