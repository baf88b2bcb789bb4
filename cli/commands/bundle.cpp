// bundle: what machines need, in one file.
#include <filesystem>
#include <string>
#include <system_error>

#include "cli/command.h"
#include "cli/saved_files.h"
#include "session/bundles/packed_bundle.h"

namespace axle::cli {

namespace {

/// Files arrive beside the bundle, on the same disk.
session::Outcome<session::SavePlace> bundle_place(const session::Arguments& given) {
  const std::string named = given.value(session::Opt::bundle_file);
  if (named.empty()) return session::misused("no file for the bundle", "name one with --out FILE");
  std::error_code error;
  const std::filesystem::path file =
      std::filesystem::weakly_canonical(std::filesystem::absolute(named, error), error);
  if (error) return session::failed({ErrorKind::io, named + ": " + error.message(), {}});
  if (named.ends_with('/') || !file.has_filename())
    return session::misused(named + " is not a file", "name one with --out FILE");
  if (!std::filesystem::is_directory(file.parent_path(), error))
    return session::failed({ErrorKind::io, file.parent_path().string() + " is not a folder",
                            "choose a file in a folder that is there"});
  if (auto free = session::check_replaceable(file.string()); !free)
    return session::failed(std::move(free).error());
  const std::string arriving =
      (file.parent_path() / ("." + file.filename().string() + "-arriving")).string();
  // The folder of an index is locked while it is written, and this one is the whole time.
  return session::SavePlace{arriving, arriving + "/made/index", file.string(),
                            given.value(session::Opt::signing_key)};
}

}  // namespace

int run_bundle(session::Session& session, Output& output) {
  if (session.arguments().has(session::Opt::signing_key) &&
      session.arguments().value(session::Opt::signing_key).empty()) {
    return output.failure(session::misused("--signing-key names no key",
                                           "name a file, or leave it out: the bundle is "
                                           "not signed then")
                              .error());
  }
  if (const auto named = check_something_is_named(session.arguments()); !named)
    return output.failure(named.error());
  const auto place = bundle_place(session.arguments());
  return place ? save_files(session, *place, output) : output.failure(place.error());
}

}  // namespace axle::cli
