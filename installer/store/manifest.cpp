#include "installer/store/manifest.h"

#include <algorithm>
#include <charconv>
#include <concepts>

#include <fmt/format.h>

namespace axle::installer {
namespace {

// Fields end with NUL. Header, file name, dist-info, "purelib" or "platlib", entry points, "variant
// markers" or nothing, the number of files, then five fields per file.
constexpr std::string_view manifest_header = "axle-manifest 2";
/// Without the field of the variant markers.
constexpr std::string_view first_manifest_header = "axle-manifest 1";
constexpr std::string_view with_variant_markers = "variant markers";

class ManifestFields {
 public:
  explicit ManifestFields(std::string_view text) : text_(text) {}

  std::string_view next() {
    const std::size_t end = text_.find('\0');
    if (end == std::string_view::npos) {
      good_ = false;
      return {};
    }
    const std::string_view field = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return field;
  }
  template <std::integral Number>
  Number next_number() {
    const std::string_view field = next();
    Number number = 0;
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), number);
    if (error != std::errc() || end != field.data() + field.size()) good_ = false;
    return number;
  }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] bool at_end() const { return text_.empty(); }

 private:
  std::string_view text_;
  bool good_ = true;
};

}  // namespace

std::string render_manifest(const Manifest& manifest) {
  std::string text;
  const auto append = [&text](std::string_view field) { text.append(field).push_back('\0'); };
  append(manifest_header);
  append(manifest.file_name);
  append(manifest.dist_info);
  append(manifest.purelib ? "purelib" : "platlib");
  append(manifest.entry_points);
  append(manifest.variant_markers ? with_variant_markers : std::string_view());
  append(fmt::format("{}", manifest.files.size()));
  for (const StoredFile& file : manifest.files) {
    append(file.path);
    append(file.sha256);
    append(fmt::format("{}", file.size));
    append(fmt::format("{}", file.modified));
    append(file.executable ? "x" : "-");
  }
  return text;
}

bool is_newer_manifest(std::string_view text) {
  constexpr unsigned newest = 2;
  constexpr std::string_view begin = "axle-manifest ";
  if (!text.starts_with(begin)) return false;
  unsigned version = 0;
  std::from_chars(text.data() + begin.size(), text.data() + text.size(), version);
  return version > newest;
}

Result<Manifest> parse_manifest(std::string_view text, std::string_view where) {
  ManifestFields fields(text);
  Manifest manifest;
  const std::string_view version = fields.next();
  bool good = version == manifest_header || version == first_manifest_header;
  manifest.file_name = fields.next();
  manifest.dist_info = fields.next();
  const std::string_view scheme = fields.next();
  manifest.purelib = scheme == "purelib";
  good = good && (manifest.purelib || scheme == "platlib");
  manifest.entry_points = fields.next();
  const std::string_view markers =
      version == manifest_header ? fields.next() : with_variant_markers;
  manifest.variant_markers = markers == with_variant_markers;
  good = good && (manifest.variant_markers || markers.empty());
  const auto count = fields.next_number<std::uint64_t>();
  // No more than there can be, whatever it says.
  constexpr std::size_t shortest_file = 6;
  manifest.files.reserve(std::min<std::uint64_t>(count, text.size() / shortest_file));
  for (std::uint64_t i = 0; good && fields.good() && i < count; ++i) {
    StoredFile file;
    file.path = fields.next();
    file.sha256 = fields.next();
    file.size = fields.next_number<std::uint64_t>();
    file.modified = fields.next_number<std::int64_t>();
    const std::string_view executable = fields.next();
    file.executable = executable == "x";
    good = file.executable || executable == "-";
    manifest.files.push_back(std::move(file));
  }
  if (!good || !fields.good() || !fields.at_end()) {
    return fail(ErrorKind::malformed,
                fmt::format("{} is not a manifest of an unpacked wheel", where));
  }
  return manifest;
}

}  // namespace axle::installer
