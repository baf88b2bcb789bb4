#include "session/vulnerabilities/advisory_source.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include <fmt/core.h>

#include "index/http/redaction.h"
#include "index/http/url.h"
#include "session/input_file.h"
#include "wheel/zip/zip_reader.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view archive_begin = "PK\x03\x04";

/// Collects what is about certain packages.
class Advisories {
 public:
  explicit Advisories(const std::set<std::string, std::less<>>& names) : names_(names) {}

  [[nodiscard]] Result<void> add(std::string_view text, const std::string& where) {
    auto parsed = wheel::parse_advisories(text, where);
    if (!parsed) return std::unexpected(std::move(parsed).error());
    std::ranges::copy_if(std::make_move_iterator(parsed->begin()),
                         std::make_move_iterator(parsed->end()), std::back_inserter(found_),
                         [&](const wheel::Advisory& one) { return concerns(one); });
    return {};
  }

  [[nodiscard]] std::vector<wheel::Advisory> take() && { return std::move(found_); }

 private:
  [[nodiscard]] bool concerns(const wheel::Advisory& advisory) const {
    return std::ranges::any_of(advisory.affected, [&](const wheel::AffectedPackage& affected) {
      return names_.contains(affected.name);
    });
  }

  const std::set<std::string, std::less<>>& names_;
  std::vector<wheel::Advisory> found_;
};

std::unexpected<Error> nothing_in(const std::string& where) {
  return fail(ErrorKind::malformed, fmt::format("{} has no advisory: no file ends in .json", where),
              "advisories are in OSV's format; those of the Python ecosystem are in its all.zip");
}

Result<void> add_archive(std::unique_ptr<wheel::ByteSource> source, const std::string& where,
                         Advisories& advisories) {
  const auto archive = wheel::ZipReader::open(std::move(source), where);
  if (!archive) return std::unexpected(archive.error());
  bool any = false;
  for (const wheel::ZipEntry& entry : archive->entries()) {
    if (entry.directory || !entry.name.ends_with(".json")) continue;
    any = true;
    const auto text = archive->read_text(entry, wheel::max_advisories_bytes);
    if (!text) return std::unexpected(text.error());
    if (auto added = advisories.add(*text, where + ": " + entry.name); !added) return added;
  }
  if (!any) return nothing_in(where);
  return {};
}

/// Names with links in them are not followed: what is there is read, and no more.
Result<void> add_folder(const std::string& folder, Advisories& advisories) {
  std::vector<std::string> paths;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    const bool regular = entry->symlink_status(unknown).type() == fs::file_type::regular;
    if (regular && entry->path().extension() == ".json") paths.push_back(entry->path().string());
  }
  if (error) {
    return fail(ErrorKind::io,
                fmt::format("{}: the folder cannot be read: {}", folder, error.message()));
  }
  if (paths.empty()) return nothing_in(folder);
  std::ranges::sort(paths);
  for (const std::string& path : paths) {
    const auto text = read_input(path);
    if (!text) return std::unexpected(text.error());
    if (auto added = advisories.add(*text, path); !added) return added;
  }
  return {};
}

Result<void> add_bytes(std::string bytes, const std::string& where, Advisories& advisories) {
  if (!bytes.starts_with(archive_begin)) return advisories.add(bytes, where);
  return add_archive(wheel::kept_source(std::move(bytes)), where, advisories);
}

Result<void> add_place(const std::string& place, const RemoteText& remote, Advisories& advisories) {
  if (index::is_http_url(place)) {
    auto bytes = remote(place);
    if (!bytes) return std::unexpected(std::move(bytes).error());
    return add_bytes(std::move(*bytes), index::redact_url(place), advisories);
  }
  std::error_code unknown;
  if (fs::is_directory(place, unknown)) return add_folder(place, advisories);
  auto bytes = read_input(place);
  if (!bytes) return std::unexpected(std::move(bytes).error());
  return add_bytes(std::move(*bytes), place, advisories);
}

}  // namespace

Result<std::vector<wheel::Advisory>> read_advisories(
    const std::string& place, const std::set<std::string, std::less<>>& names,
    const RemoteText& remote) {
  Advisories advisories(names);
  if (auto added = add_place(place, remote, advisories); !added)
    return std::unexpected(std::move(added).error());
  return std::move(advisories).take();
}

}  // namespace axle::session
