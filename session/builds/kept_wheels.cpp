#include "session/builds/kept_wheels.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "index/http/url.h"
#include "installer/file_access.h"
#include "installer/file_hash.h"
#include "installer/store/store.h"
#include "wheel/hash/sha256.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// The wheel's name and its sha256, as sha256sum(1) writes them.
constexpr const char* record_name = "/sha256";

/// The wheel in `folder`, which is the only one and a file.
Result<std::string> only_wheel(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const bool regular = entry->symlink_status(error).type() == fs::file_type::regular;
    if (regular && entry->path().extension() == ".whl")
      found.push_back(entry->path().filename().string());
  }
  if (found.size() == 1) return std::move(found.front());
  return fail(ErrorKind::malformed,
              found.empty()
                  ? std::string("it made no wheel")
                  : fmt::format("it made {} wheels: {}", found.size(), fmt::join(found, ", ")));
}

Result<wheel::WheelName> awaited_name(const AwaitedWheel& awaited, const std::string& filename) {
  auto name = wheel::parse_wheel_name(filename);
  if (!name) return name;
  const std::string made = wheel::normalize_name(name->distribution);
  const bool is_it = (awaited.name.empty() || made == awaited.name) &&
                     (!awaited.version || name->version == *awaited.version);
  if (!is_it || !name->label.empty()) {
    const std::string title =
        awaited.name +
        (awaited.version ? " " + wheel::render_version(*awaited.version) : std::string());
    return fail(ErrorKind::malformed, fmt::format("{} is not a plain wheel{}{}", filename,
                                                  title.empty() ? "" : " of ", title));
  }
  if (wheel::supported_tags(awaited.target).best_index(name->tags) == wheel::SupportedTags::npos)
    return fail(ErrorKind::malformed,
                fmt::format("the tags of {} do not fit this interpreter and platform", filename));
  return name;
}

/// Its sha256.
Result<std::string> check_wheel(wheel::WheelName name, const std::string& folder,
                                const std::string& filename, const std::string& scratch,
                                index::Transport& transport, Report& report) {
  plan::ResolvedPackage package;
  package.name = wheel::normalize_name(name.distribution);
  package.version = name.version;
  package.filename = filename;
  package.wheel_name = std::move(name);
  package.url = index::file_url(folder + "/" + filename);
  package.source = "the build";
  const installer::WheelCheck nothing_else = [](const auto&, std::string_view) -> Result<void> {
    return {};
  };
  const auto contents = installer::acquire_wheel(scratch, package, transport, nothing_else,
                                                 installer::EntryCheck::size_and_time, report);
  if (!contents) return std::unexpected(contents.error());
  return contents->sha256;
}

}  // namespace

std::optional<index::PublishedFile> find_kept(const std::string& place) {
  const auto record = installer::read_file(place + record_name, 4096);
  if (!record) return std::nullopt;
  const std::size_t gap = record->find("  ");
  if (gap != 64 || !record->ends_with('\n')) return std::nullopt;
  index::PublishedFile kept;
  kept.filename = record->substr(gap + 2, record->size() - gap - 3);
  kept.url = index::file_url(place + "/" + kept.filename);
  kept.hash = wheel::expected_sha256(record->substr(0, gap));
  std::error_code error;
  kept.size = fs::file_size(place + "/" + kept.filename, error);
  if (error) return std::nullopt;
  fs::last_write_time(place, fs::file_time_type::clock::now(), error);
  return kept;
}

Result<std::string> record_wheel(const AwaitedWheel& awaited, const std::string& folder,
                                 const std::string& scratch, index::Transport& transport,
                                 Report& report) {
  const auto filename = only_wheel(folder);
  if (!filename) return filename;
  auto name = awaited_name(awaited, *filename);
  if (!name) return std::unexpected(std::move(name).error());
  auto sha256 = check_wheel(std::move(*name), folder, *filename, scratch, transport, report);
  if (!sha256) return sha256;
  const std::string record = fmt::format("{}  {}\n", *sha256, *filename);
  if (auto written = installer::create_file(AT_FDCWD, folder + record_name, record, false);
      !written)
    return std::unexpected(std::move(written).error());
  return sha256;
}

}  // namespace axle::session
