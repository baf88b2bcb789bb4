#include "wheel/wheel_name.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <span>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/quote.h"
#include "wheel/requirement.h"

namespace axle::wheel {
namespace {

constexpr std::size_t kFewestParts = 5;
constexpr std::size_t kMostParts = 7;

std::unexpected<Error> not_a_wheel_name(std::string_view file_name, std::string_view why) {
  return fail(ErrorKind::malformed,
              fmt::format("{} is not a valid wheel name: {}", text::quote(file_name), why),
              "wheels are named name-version[-build]-python-abi-platform[-label].whl");
}

/// How many parts there are between dashes; the first of them in `parts`.
std::size_t split_parts(std::string_view stem, std::array<std::string_view, kMostParts>& parts) {
  for (std::size_t count = 0; count < kMostParts; ++count) {
    const std::size_t dash = stem.find('-');
    parts[count] = stem.substr(0, dash);
    if (dash == std::string_view::npos) return count + 1;
    stem.remove_prefix(dash + 1);
  }
  return kMostParts + 1;
}

/// PEP 427 escapes a name so that only letters, digits, "_" and "." are left, "_" never doubled.
bool is_distribution(std::string_view text) {
  return !text.empty() && !text.contains("__") && std::ranges::all_of(text, [](char c) {
    return text::is_ascii_alnum(c) || c == '_' || c == '.';
  });
}

/// A number, then anything printable.
std::optional<BuildTag> parse_build(std::string_view text) {
  BuildTag build;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), build.first);
  if (code != std::errc()) return std::nullopt;
  build.second = std::string(text.substr(static_cast<std::size_t>(end - text.data())));
  const bool printable = std::ranges::all_of(
      build.second, [](char c) { return c > ' ' && c < 0x7F && c != '/' && c != '\\'; });
  return printable ? std::optional(std::move(build)) : std::nullopt;
}

}  // namespace

bool is_valid_label(std::string_view label) {
  return !label.empty() && std::ranges::all_of(label, [](char c) {
    return text::is_ascii_digit(c) || (c >= 'a' && c <= 'z') || c == '_' || c == '.';
  });
}

Result<WheelName> parse_wheel_name(std::string_view file_name) {
  if (!file_name.ends_with(".whl")) return not_a_wheel_name(file_name, "it does not end in .whl");
  std::array<std::string_view, kMostParts> parts;
  const std::size_t count = split_parts(file_name.substr(0, file_name.size() - 4), parts);
  if (count < kFewestParts || count > kMostParts) {
    return not_a_wheel_name(file_name, "it must have five to seven parts between dashes");
  }

  WheelName name;
  if (!is_distribution(parts[0])) {
    return not_a_wheel_name(file_name,
                            fmt::format("{} is not an escaped name", text::quote(parts[0])));
  }
  name.distribution = std::string(parts[0]);
  auto version = parse_version(parts[1]);
  if (!version) return not_a_wheel_name(file_name, version.error().message);
  name.version = std::move(*version);

  // PEP 825: a build tag starts with a digit, a Python tag never does.
  const bool has_build = count > 5 && !parts[2].empty() && text::is_ascii_digit(parts[2].front());
  const std::size_t first_tag = has_build ? 3 : 2;
  if (has_build) {
    name.build = parse_build(parts[2]);
    if (!name.build) {
      return not_a_wheel_name(file_name,
                              fmt::format("{} is not a build tag", text::quote(parts[2])));
    }
  }
  if (count == kMostParts && !has_build) {
    return not_a_wheel_name(file_name, fmt::format("the build tag {} does not start with a digit",
                                                   text::quote(parts[2])));
  }
  const char* tags_end = parts[first_tag + 2].data() + parts[first_tag + 2].size();
  name.tags_text = std::string(parts[first_tag].data(), tags_end);
  auto tags = parse_tags(name.tags_text);
  if (!tags) return not_a_wheel_name(file_name, tags.error().message);
  name.tags = std::move(*tags);
  if (first_tag + 3 == count) return name;
  if (!is_valid_label(parts[first_tag + 3])) {
    return not_a_wheel_name(
        file_name,
        fmt::format("the variant label {} has characters other than a-z, 0-9, \"_\" and \".\"",
                    text::quote(parts[first_tag + 3])));
  }
  name.label = std::string(parts[first_tag + 3]);
  return name;
}

std::string render_wheel_name(const WheelName& name) {
  std::string text = name.distribution;
  std::ranges::replace(text, '-', '_');
  text += '-';
  text += render_version(name.version);
  if (name.build) text += fmt::format("-{}{}", name.build->first, name.build->second);
  text += '-';
  text += name.tags_text;
  if (!name.label.empty()) text += '-' + name.label;
  return text + ".whl";
}

std::string wheel_distribution(std::string_view name) {
  std::string text = normalize_name(name);
  std::ranges::replace(text, '-', '_');
  return text;
}

std::string variants_file_name(std::string_view distribution, const Version& version) {
  return fmt::format("{}-{}-variants.json", wheel_distribution(distribution),
                     render_version(version));
}

}  // namespace axle::wheel
