#include "wheel/core_metadata.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/quote.h"
#include "foundation/text/utf8.h"
#include "wheel/metadata_field.h"

namespace axle::wheel {
namespace {

/// Newest major version of the metadata that we know; a newer one may mean anything.
constexpr std::uint64_t kKnownMajor = 2;

/// The most that any known package has are some 2,000; each costs memory of many times its length.
constexpr std::size_t kMostFields = 100'000;

/// RFC 822 as Python's email package reads it, the format of METADATA.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, CoreMetadata& metadata) : rest_(text), metadata_(metadata) {}

  /// Fills fields and description.
  void read();

 private:
  std::string_view next_line();
  void continue_field(std::string_view line);

  std::string_view rest_;
  std::size_t line_ = 0;
  CoreMetadata& metadata_;
};

std::string_view HeaderReader::next_line() {
  std::string_view line = rest_.substr(0, line_length(rest_));
  rest_.remove_prefix(line.size());
  if (line.ends_with('\n')) line.remove_suffix(1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  ++line_;
  return line;
}

/// Writers indent continued lines by eight blanks, or seven and a "|" (core metadata, Description).
void HeaderReader::continue_field(std::string_view line) {
  constexpr std::string_view kIndent = "        ";
  constexpr std::string_view kBar = "       |";
  if (line.starts_with(kIndent) || line.starts_with(kBar)) {
    line.remove_prefix(kIndent.size());
  } else {
    line = text::trim_ascii(line);
  }
  std::string& value = metadata_.fields.back().second;
  value += '\n';
  value += line;
}

void HeaderReader::read() {
  while (!rest_.empty() && metadata_.fields.size() <= kMostFields) {
    const std::string_view before = rest_;
    const std::string_view line = next_line();
    if (line.empty()) {
      metadata_.description = std::string(rest_);
      return;
    }
    if (continues_field(line) && !metadata_.fields.empty()) {
      continue_field(line);
      continue;
    }
    const auto field = split_field(line);
    if (!field) {
      metadata_.remarks.push_back(fmt::format(
          "line {} is not a header: it and the rest are treated as the description", line_));
      metadata_.description = std::string(before);
      return;
    }
    metadata_.fields.emplace_back(field->name, text::trim_ascii(field->value));
  }
}

/// Interprets the fields that an installer acts on.
class MetadataFieldReader {
 public:
  MetadataFieldReader(CoreMetadata& metadata, std::string_view where)
      : metadata_(metadata), where_(where) {}
  Result<void> read();

 private:
  Result<std::optional<std::string>> single(std::string_view name) const;
  Result<void> read_metadata_version();
  Result<void> read_identity();
  Result<void> read_requires_python();
  Result<void> read_lists();
  [[nodiscard]] std::unexpected<Error> malformed(std::string_view why) const {
    return fail(ErrorKind::malformed, fmt::format("{}: {}", where_, why));
  }

  CoreMetadata& metadata_;
  std::string_view where_;
};

/// The value of a field that may stand once; a second one that says the same does no harm.
Result<std::optional<std::string>> MetadataFieldReader::single(std::string_view name) const {
  std::optional<std::string> value;
  for (const auto& [field, text] : metadata_.fields) {
    if (!same_field(field, name)) continue;
    if (value && *value != text) {
      return malformed(fmt::format("{} is given twice, as {} and as {}", name, text::quote(*value),
                                   text::quote(text)));
    }
    value = text;
  }
  return value;
}

Result<void> MetadataFieldReader::read_metadata_version() {
  auto text = single("Metadata-Version");
  if (!text) return std::unexpected(std::move(text.error()));
  if (!*text) {
    metadata_.remarks.emplace_back("it has no Metadata-Version");
    return {};
  }
  const auto version = parse_version(**text);
  if (!version) return malformed("Metadata-Version: " + version.error().message);
  if (version->epoch != 0 || version->release.front() > kKnownMajor) {
    return fail(ErrorKind::unsupported,
                fmt::format("{}: Metadata-Version {} is not supported ({}.x is)", where_,
                            text::quote(**text), kKnownMajor),
                "update Axle");
  }
  metadata_.metadata_version = std::move(**text);
  return {};
}

Result<void> MetadataFieldReader::read_identity() {
  auto name = single("Name");
  if (!name) return std::unexpected(std::move(name.error()));
  if (!*name) return malformed("it has no Name");
  if (!is_valid_name(**name)) {
    return malformed(fmt::format("{} is not a valid name of a package", text::quote(**name)));
  }
  metadata_.name = std::move(**name);

  auto text = single("Version");
  if (!text) return std::unexpected(std::move(text.error()));
  if (!*text) return malformed("it has no Version");
  auto version = parse_version(**text);
  if (!version) return malformed(version.error().message);
  metadata_.version = std::move(*version);

  auto summary = single("Summary");
  if (summary && *summary) metadata_.summary = std::move(**summary);
  return {};
}

/// Old releases carry mistakes here (">=3.6.*"); pip and uv let them pass, and so do we, with a
/// word.
Result<void> MetadataFieldReader::read_requires_python() {
  auto text = single("Requires-Python");
  if (!text) return std::unexpected(std::move(text.error()));
  if (!*text) return {};
  auto specifiers = parse_specifiers(**text);
  if (specifiers) {
    metadata_.requires_python = std::move(*specifiers);
  } else {
    metadata_.remarks.push_back("Requires-Python is ignored: " + specifiers.error().message);
  }
  return {};
}

Result<void> MetadataFieldReader::read_lists() {
  for (const auto& [field, text] : metadata_.fields) {
    if (same_field(field, "Requires-Dist")) {
      auto requirement = parse_requirement(text);
      if (!requirement) return malformed("Requires-Dist: " + requirement.error().message);
      metadata_.requires_dist.push_back(std::move(*requirement));
    } else if (same_field(field, "Provides-Extra")) {
      metadata_.provides_extra.push_back(normalize_name(text));
    }
  }
  return {};
}

Result<void> MetadataFieldReader::read() {
  if (metadata_.fields.size() > kMostFields) {
    return malformed(fmt::format("it has more than {} fields", kMostFields));
  }
  if (auto done = read_metadata_version(); !done) return done;
  if (auto done = read_identity(); !done) return done;
  if (auto done = read_requires_python(); !done) return done;
  return read_lists();
}

constexpr std::array<std::string_view, 7> kInterpreted = {
    "Metadata-Version", "Name",          "Version",       "Summary",
    "Requires-Python",  "Requires-Dist", "Provides-Extra"};

}  // namespace

Result<CoreMetadata> parse_core_metadata(std::string_view text, std::string_view where) {
  CoreMetadata metadata;
  std::string fixed;
  if (!text::is_valid_utf8(text)) {
    fixed = text::repair_utf8(text);
    text = fixed;
    metadata.remarks.emplace_back("it is not UTF-8; invalid bytes are replaced by U+FFFD");
  }
  HeaderReader(text, metadata).read();
  if (auto done = MetadataFieldReader(metadata, where).read(); !done) {
    return std::unexpected(std::move(done.error()));
  }
  return metadata;
}

std::optional<std::string> essential_metadata(const CoreMetadata& metadata) {
  if (!metadata.remarks.empty()) return std::nullopt;
  std::string essential;
  for (const auto& [field, value] : metadata.fields) {
    const auto is_it = [&](std::string_view name) { return same_field(field, name); };
    if (std::ranges::none_of(kInterpreted, is_it)) continue;
    essential.append(field).append(": ");
    for (const char c : value) {
      essential += c;
      if (c == '\n') essential += "        ";
    }
    essential += '\n';
  }
  return essential;
}

std::string without_requirements(std::string_view essential) {
  std::string rest;
  bool left_out = false;
  while (!essential.empty()) {
    const std::string_view line = essential.substr(0, essential.find('\n') + 1);
    essential.remove_prefix(line.size());
    if (!line.starts_with(' ')) {
      const std::string_view field = line.substr(0, line.find(':'));
      left_out = same_field(field, "Requires-Dist") || same_field(field, "Provides-Extra");
    }
    if (!left_out) rest += line;
  }
  return rest;
}

}  // namespace axle::wheel
