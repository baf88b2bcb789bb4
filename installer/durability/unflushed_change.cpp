#include "installer/durability/unflushed_change.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "installer/sealed_fields.h"
#include "wheel/record.h"

namespace axle::installer {
namespace {

// Sealed fields: header, title, store, latest, the number of things that left and each of
// these as path, number of leaves and "<size> <modified>" and path of each; the number of packages
// and each of these as its origin, dist-info, number of files and six fields for each.
constexpr std::string_view header_name = "axle-unflushed ";
constexpr std::string_view version = "2";

std::optional<LeavingThing> next_thing(std::string_view& rest) {
  LeavingThing thing;
  const auto path = next_field(rest);
  std::uint64_t count = 0;
  if (!path || !is_safe_path(*path) || !next_number(rest, count)) return std::nullopt;
  thing.path = *path;
  for (std::uint64_t i = 0; i < count; ++i) {
    Leaf leaf;
    if (!next_number(rest, leaf.size) || !next_number(rest, leaf.modified)) return std::nullopt;
    const auto below = next_field(rest);
    if (!below || !(below->empty() || is_plain_path(*below))) return std::nullopt;
    leaf.path = *below;
    thing.leaves.push_back(std::move(leaf));
  }
  if (!std::ranges::is_sorted(thing.leaves)) return std::nullopt;
  return thing;
}

std::optional<PromisedFile> next_file(std::string_view& rest) {
  PromisedFile file;
  for (std::string* text : {&file.path, &file.stored, &file.sha256}) {
    const auto field = next_field(rest);
    if (!field) return std::nullopt;
    *text = *field;
  }
  const auto executable = next_field(rest);
  if (!executable || !next_number(rest, file.size) || !is_safe_path(file.path)) return std::nullopt;
  file.executable = *executable == "x";
  if (!file.executable && *executable != "-") return std::nullopt;
  if (!file.stored.empty()) return is_plain_path(file.stored) ? std::optional(file) : std::nullopt;
  // It may hold any byte, NUL too.
  if (rest.size() < file.size) return std::nullopt;
  file.content = rest.substr(0, file.size);
  rest.remove_prefix(file.size);
  return file;
}

std::optional<PromisedPackage> next_package(std::string_view& rest) {
  PromisedPackage package;
  WheelOrigin& wheel = package.wheel;
  for (std::string* text : {&wheel.name, &wheel.version, &wheel.filename, &wheel.url, &wheel.sha256,
                            &package.dist_info}) {
    const auto field = next_field(rest);
    if (!field) return std::nullopt;
    *text = *field;
  }
  const bool digits = std::ranges::all_of(
      wheel.sha256, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  std::uint64_t count = 0;
  if (!digits || wheel.sha256.size() != 64 || !is_safe_path(package.dist_info) ||
      !next_number(rest, count))
    return std::nullopt;
  for (std::uint64_t i = 0; i < count; ++i) {
    auto file = next_file(rest);
    if (!file) return std::nullopt;
    package.files.push_back(std::move(*file));
  }
  return package;
}

/// At least as long as the text, so that it does not grow: that of a large change has megabytes.
std::size_t most_bytes(const UnflushedChange& change) {
  constexpr std::size_t of_a_head = 256;
  constexpr std::size_t of_numbers = 2 * 21;
  std::size_t bytes = of_a_head + change.title.size() + change.store.size();
  for (const LeavingThing& thing : change.leaving) {
    bytes += of_numbers + thing.path.size();
    for (const Leaf& leaf : thing.leaves) bytes += of_numbers + leaf.path.size() + 1;
  }
  for (const PromisedPackage& package : change.packages) {
    const WheelOrigin& wheel = package.wheel;
    bytes += of_a_head + wheel.name.size() + wheel.version.size() + wheel.filename.size() +
             wheel.url.size() + wheel.sha256.size() + package.dist_info.size();
    for (const PromisedFile& file : package.files)
      bytes += of_numbers + file.path.size() + file.stored.size() + file.sha256.size() +
               file.content.size();
  }
  return bytes;
}

}  // namespace

Result<std::vector<PromisedFile>> all_files(const PromisedPackage& package) {
  std::vector<PromisedFile> files = package.files;
  const std::string path = package.dist_info + "/RECORD";
  const auto record = std::ranges::find(package.files, path, &PromisedFile::path);
  if (record == package.files.end()) return files;
  auto rows = wheel::parse_record(record->content, path);
  if (!rows) return std::unexpected(std::move(rows.error()));
  const std::string site = package.dist_info.substr(0, package.dist_info.rfind('/') + 1);
  std::unordered_set<std::string_view> listed;
  for (const PromisedFile& file : package.files) listed.insert(file.path);
  for (wheel::RecordEntry& row : *rows) {
    std::string place = site + row.path;
    if (listed.contains(place)) continue;
    if (!is_plain_path(row.path)) {
      place = std::filesystem::path(place).lexically_normal().string();
      if (listed.contains(place)) continue;
    }
    if (!is_plain_path(row.path) || !is_safe_path(place) || row.sha256.empty() || !row.size) {
      return fail(ErrorKind::malformed,
                  fmt::format("{}: '{}' is not a file of the wheel", path, row.path));
    }
    files.push_back(
        {std::move(place), std::move(row.path), {}, false, std::move(row.sha256), *row.size});
  }
  return files;
}

std::string render_unflushed(const UnflushedChange& change) {
  std::string text;
  text.reserve(most_bytes(change));
  const auto append = [&text](std::string_view field) { append_field(text, field); };
  append(std::string(header_name).append(version));
  append(change.title.substr(0, change.title.find('\0')));
  append(change.store);
  append_number(text, change.latest);
  append_number(text, change.leaving.size());
  for (const LeavingThing& thing : change.leaving) {
    append(thing.path);
    append_number(text, thing.leaves.size());
    for (const Leaf& leaf : thing.leaves) {
      append_number(text, leaf.size);
      append_number(text, leaf.modified);
      append(leaf.path);
    }
  }
  append_number(text, change.packages.size());
  for (const PromisedPackage& package : change.packages) {
    const WheelOrigin& wheel = package.wheel;
    for (const std::string* field : {&wheel.name, &wheel.version, &wheel.filename, &wheel.url,
                                     &wheel.sha256, &package.dist_info})
      append(*field);
    append_number(text, package.files.size());
    for (const PromisedFile& file : package.files) {
      append(file.path);
      append(file.stored);
      append(file.sha256);
      append(file.executable ? "x" : "-");
      append_number(text, file.size);
      text += file.content;
    }
  }
  seal_fields(text);
  return text;
}

Result<UnflushedChange> parse_unflushed(std::string_view text, std::string_view where) {
  const auto malformed = [&](const std::string& why) {
    return fail(ErrorKind::malformed, fmt::format("{}: {}", where, why));
  };
  auto body = open_sealed_fields(text, header_name, version, "record of a change", where);
  if (!body) return std::unexpected(body.error());
  std::string_view rest = *body;
  UnflushedChange change;
  const auto title = next_field(rest);
  const auto store = title ? next_field(rest) : std::nullopt;
  std::uint64_t things = 0;
  if (!store || !next_number(rest, change.latest) || !next_number(rest, things))
    return malformed("its beginning is not valid");
  change.title = *title;
  change.store = *store;
  for (std::uint64_t i = 0; i < things; ++i) {
    auto thing = next_thing(rest);
    if (!thing) return malformed(fmt::format("what left, {}, is not valid", i + 1));
    change.leaving.push_back(std::move(*thing));
  }
  std::uint64_t packages = 0;
  if (!next_number(rest, packages)) return malformed("the number of packages is missing");
  for (std::uint64_t i = 0; i < packages; ++i) {
    auto package = next_package(rest);
    if (!package) return malformed(fmt::format("package {} is not valid", i + 1));
    if (auto files = all_files(*package); !files) return malformed(files.error().message);
    change.packages.push_back(std::move(*package));
  }
  if (!rest.empty()) return malformed("there is more than it says");
  return change;
}

}  // namespace axle::installer
