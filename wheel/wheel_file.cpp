#include "wheel/wheel_file.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/quote.h"
#include "wheel/name_folding.h"
#include "wheel/requirement.h"

namespace axle::wheel {
namespace {

constexpr std::uint64_t longest_metadata = 16ULL << 20;
constexpr std::uint64_t longest_wheel_header = 1ULL << 20;
constexpr std::uint64_t longest_record = 256ULL << 20;
constexpr std::string_view dist_info_ending = ".dist-info";

/// The top-level folders that end in ".dist-info", whatever the case: Python ignores it.
std::set<std::string> find_dist_infos(const ZipReader& archive) {
  std::set<std::string> folders;
  for (const ZipEntry& entry : archive.entries()) {
    const std::size_t slash = entry.name.find('/');
    if (slash == std::string::npos) continue;
    const std::string_view folder = std::string_view(entry.name).substr(0, slash);
    if (fold_name(folder).ends_with(dist_info_ending)) folders.emplace(folder);
  }
  return folders;
}

/// `folder` is "{name}-{version}.dist-info" with the name and version of the file name, however
/// spelled.
bool is_folder_of(std::string_view folder, const WheelName& name) {
  if (!folder.ends_with(dist_info_ending)) return false;
  folder.remove_suffix(dist_info_ending.size());
  const std::size_t dash = folder.find('-');
  if (dash == std::string_view::npos) return false;
  const auto version = parse_version(folder.substr(dash + 1));
  return version && *version == name.version &&
         normalize_name(folder.substr(0, dash)) == normalize_name(name.distribution);
}

Result<std::string> find_dist_info(const ZipReader& archive, const WheelName& name) {
  const std::set<std::string> folders = find_dist_infos(archive);
  if (folders.size() != 1) {
    return fail(
        ErrorKind::malformed,
        fmt::format("{}: {}, but a wheel has one \".dist-info\" folder", archive.where(),
                    folders.empty() ? std::string("none") : fmt::format("{}", folders.size())));
  }
  if (!is_folder_of(*folders.begin(), name)) {
    return fail(ErrorKind::mismatch,
                fmt::format("{}: the folder {} has another name or version than the file",
                            archive.where(), text::quote(*folders.begin())));
  }
  return *folders.begin();
}

Result<std::string> read_required(const ZipReader& archive, const std::string& path,
                                  std::uint64_t limit) {
  const ZipEntry* entry = archive.find(path);
  if (entry == nullptr) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: no {} in the archive", archive.where(), text::quote(path)));
  }
  return archive.read_text(*entry, limit);
}

bool equal_without_case(std::string_view left, std::string_view right) {
  return std::ranges::equal(left, right, [](char a, char b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(a) == lower(b);
  });
}

/// Refuses a carriage return without a line feed among the fields of `text`: Python's email
/// package, and pip with it, sees the end of a line there, other readers do not.
Result<void> check_line_ends(std::string_view text, const std::string& where) {
  std::size_t number = 1;
  for (std::size_t begin = 0; begin < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) return {};
    if (line.contains('\r')) {
      return fail(ErrorKind::malformed,
                  fmt::format("{}:{}: a carriage return in the line, which only some readers "
                              "recognise as its end",
                              where, number));
    }
  }
  return {};
}

/// The field `key` of the WHEEL file. Wheels with the whole block twice are in circulation; where
/// the two say different things, what a wheel is depends on the reader. Python's reads no field
/// behind a line that is none.
Result<std::optional<std::string_view>> find_field(std::string_view text, std::string_view key,
                                                   const std::string& where) {
  std::optional<std::string_view> found;
  bool in_header = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) in_header = false;
    if (colon == std::string_view::npos || !equal_without_case(line.substr(0, colon), key))
      continue;
    const std::string_view value = text::trim_ascii(line.substr(colon + 1));
    if (!found && !in_header)
      return fail(ErrorKind::malformed,
                  fmt::format("{}: {} follows a line that is no field", where, key));
    if (found && !equal_without_case(*found, value)) {
      return fail(ErrorKind::malformed, fmt::format("{}: {} is given twice, as {} and as {}", where,
                                                    key, text::quote(*found), text::quote(value)));
    }
    found = value;
  }
  return found;
}

Result<void> check_wheel_version(std::string_view version, const std::string& where,
                                 Report& report) {
  unsigned major = 0;
  unsigned minor = 0;
  const char* const end = version.data() + version.size();
  const auto first = std::from_chars(version.data(), end, major);
  const bool dotted = first.ec == std::errc() && first.ptr != end && *first.ptr == '.';
  const auto second = dotted ? std::from_chars(first.ptr + 1, end, minor) : first;
  if (!dotted || second.ec != std::errc() || second.ptr != end) {
    return fail(ErrorKind::malformed, fmt::format("{}: Wheel-Version {} is not a valid version",
                                                  where, text::quote(version)));
  }
  if (major != 1) {
    return fail(ErrorKind::unsupported,
                fmt::format("{}: Wheel-Version {} is not supported, only 1.0", where, version),
                "a newer version of this tool may support it");
  }
  if (minor != 0) {
    report.warn(fmt::format("{}: Wheel-Version {} is newer than 1.0", where, version));
  }
  return {};
}

/// Reads WHEEL into `wheel`.
Result<void> read_wheel_header(WheelFile& wheel, Report& report) {
  const std::string path = wheel.dist_info + "/WHEEL";
  const auto text = read_required(wheel.archive, path, longest_wheel_header);
  if (!text) return std::unexpected(text.error());
  const std::string where = fmt::format("{}: {}", wheel.archive.where(), path);
  if (auto checked = check_line_ends(*text, where); !checked) return checked;
  const auto version = find_field(*text, "Wheel-Version", where);
  if (!version) return std::unexpected(version.error());
  if (!*version) return fail(ErrorKind::malformed, where + ": no Wheel-Version");
  const auto purelib = find_field(*text, "Root-Is-Purelib", where);
  if (!purelib) return std::unexpected(purelib.error());
  wheel.purelib = equal_without_case(purelib->value_or(""), "true");
  return check_wheel_version(**version, where, report);
}

/// Reads METADATA into `wheel` and compares it with the file name.
Result<void> read_metadata(WheelFile& wheel) {
  const std::string path = wheel.dist_info + "/METADATA";
  auto text = read_required(wheel.archive, path, longest_metadata);
  if (!text) return std::unexpected(std::move(text).error());
  wheel.metadata_text = std::move(*text);
  const std::string where = fmt::format("{}: {}", wheel.archive.where(), path);
  if (auto checked = check_line_ends(wheel.metadata_text, where); !checked) return checked;
  auto metadata = parse_core_metadata(wheel.metadata_text, where);
  if (!metadata) return std::unexpected(std::move(metadata).error());
  wheel.metadata = std::move(*metadata);
  if (normalize_name(wheel.metadata.name) != normalize_name(wheel.name.distribution)) {
    return fail(ErrorKind::mismatch,
                fmt::format("{}: the name {} differs from that of the file, {}", where,
                            text::quote(wheel.metadata.name), wheel.name.distribution));
  }
  if (wheel.metadata.version != wheel.name.version) {
    return fail(
        ErrorKind::mismatch,
        fmt::format("{}: the version {} differs from that of the file, {}", where,
                    render_version(wheel.metadata.version), render_version(wheel.name.version)));
  }
  return {};
}

/// Reads variant.json into `wheel`: there exactly when the file name has a label, and of that
/// label.
Result<void> read_variant(WheelFile& wheel, Report& report) {
  const std::string path = wheel.dist_info + "/variant.json";
  const std::string where = fmt::format("{}: {}", wheel.archive.where(), path);
  const ZipEntry* entry = wheel.archive.find(path);
  if (!wheel.name.is_variant()) {
    if (entry == nullptr) return {};
    return fail(ErrorKind::mismatch, where + ": present, but the file name has no variant label",
                "restore the label at the end of the file name");
  }
  if (entry == nullptr) {
    return fail(ErrorKind::mismatch, fmt::format("{}: missing, but the file name has the label {}",
                                                 where, wheel.name.label));
  }
  auto text = wheel.archive.read_text(*entry, longest_metadata);
  if (!text) return std::unexpected(text.error());
  auto metadata = parse_variant_metadata(*text, where, report);
  if (!metadata) return std::unexpected(std::move(metadata).error());
  if (metadata->variants.size() != 1 || metadata->variants.begin()->first != wheel.name.label) {
    std::string found;
    for (const auto& [label, properties] : metadata->variants) {
      found += fmt::format("{}{}", found.empty() ? "" : ", ", label);
    }
    return fail(ErrorKind::mismatch,
                fmt::format("{}: describes {}, but the file name has only {}", where,
                            found.empty() ? "no variant" : text::quote(found), wheel.name.label));
  }
  wheel.variant = std::move(*metadata);
  wheel.variant_text = std::move(*text);
  return {};
}

/// Signatures stand beside RECORD and are not listed in it.
bool may_be_unlisted(std::string_view path, const std::string& record_path) {
  return path == record_path || path == record_path + ".jws" || path == record_path + ".p7s";
}

/// What is wrong with one line of RECORD, or nothing.
std::string line_problem(const WheelFile& wheel, const RecordEntry& line,
                         const std::string& record_path) {
  const ZipEntry* entry = wheel.archive.find(line.path);
  if (entry == nullptr || entry->directory) return "is listed, but not in the archive";
  if (line.path == record_path) return {};
  if (line.sha256.empty() && line.stronger_hash.empty()) return "is listed without a hash";
  if (line.size && *line.size != entry->size) {
    return fmt::format("is listed with {} bytes, but has {}", *line.size, entry->size);
  }
  return {};
}

}  // namespace

Result<WheelFile> open_wheel(std::unique_ptr<ByteSource> source, std::string_view file_name,
                             std::string where, Report& report, bool directory_only) {
  auto name = parse_wheel_name(file_name);
  if (!name) return std::unexpected(std::move(name).error());
  return open_wheel(std::move(source), std::move(*name), std::move(where), report, directory_only);
}

Result<WheelFile> open_wheel(std::unique_ptr<ByteSource> source, WheelName name, std::string where,
                             Report& report, bool directory_only) {
  auto archive = directory_only ? ZipReader::open_directory(std::move(source), std::move(where))
                                : ZipReader::open(std::move(source), std::move(where));
  if (!archive) return std::unexpected(std::move(archive).error());
  auto dist_info = find_dist_info(*archive, name);
  if (!dist_info) return std::unexpected(std::move(dist_info).error());
  WheelFile wheel{.name = std::move(name),
                  .archive = std::move(*archive),
                  .dist_info = std::move(*dist_info),
                  .metadata_text = {},
                  .metadata = {},
                  .purelib = true,
                  .variant = std::nullopt,
                  .variant_text = {}};
  if (auto read = read_wheel_header(wheel, report); !read) {
    return std::unexpected(std::move(read).error());
  }
  if (auto read = read_metadata(wheel); !read) return std::unexpected(std::move(read).error());
  if (auto read = read_variant(wheel, report); !read) {
    return std::unexpected(std::move(read).error());
  }
  return wheel;
}

Result<std::vector<RecordEntry>> read_checked_record(const WheelFile& wheel) {
  const std::string record_path = wheel.dist_info + "/RECORD";
  const std::string where = fmt::format("{}: {}", wheel.archive.where(), record_path);
  const auto text = read_required(wheel.archive, record_path, longest_record);
  if (!text) return std::unexpected(text.error());
  auto lines = parse_record(*text, where);
  if (!lines) return lines;
  std::set<std::string_view> listed;
  for (const RecordEntry& line : *lines) {
    if (const auto problem = line_problem(wheel, line, record_path); !problem.empty()) {
      return fail(ErrorKind::mismatch,
                  fmt::format("{}: {} {}", where, text::quote(line.path), problem));
    }
    if (!listed.insert(line.path).second) {
      return fail(ErrorKind::malformed,
                  fmt::format("{}: {} is listed twice", where, text::quote(line.path)));
    }
  }
  for (const ZipEntry& entry : wheel.archive.entries()) {
    if (entry.directory || listed.contains(entry.name)) continue;
    if (may_be_unlisted(entry.name, record_path)) continue;
    return fail(ErrorKind::mismatch, fmt::format("{}: {} is in the archive, but not listed", where,
                                                 text::quote(entry.name)));
  }
  return lines;
}

}  // namespace axle::wheel
