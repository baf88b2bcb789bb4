#include "machines/possible_facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "machines/vendor_facts.h"

namespace axle::machines {

using detect::GpuVendor;

std::optional<std::string> nearest_arch(GpuVendor vendor, std::string_view arch) {
  return facts_of(vendor).nearest_arch(arch);
}

std::optional<std::string> nearest_driver(GpuVendor vendor, std::string_view version,
                                          std::string_view system) {
  return facts_of(vendor).nearest_driver(version, system);
}

std::optional<std::string> nearest_api(GpuVendor vendor, std::string_view version) {
  return facts_of(vendor).nearest_api(version);
}

std::optional<std::string> nearest_libc(std::string_view family, unsigned major, unsigned minor) {
  constexpr unsigned last_minor = 99;
  if (family == "glibc" && (major != 2 || minor > last_minor)) return "2.28, 2.36";
  if (family == "musl" && (major != 1 || minor > last_minor)) return "1.2";
  return std::nullopt;
}

namespace {

using detect::MacosVersion;

/// The last minor version of each macOS that gets no updates any more (Apple, security releases).
constexpr std::array<MacosVersion, 4> ended_macos = {{{11, 7}, {12, 7}, {13, 7}, {14, 8}}};

}  // namespace

std::optional<std::string> nearest_macos(detect::MacosVersion version) {
  constexpr unsigned first_of_ten = 4;
  constexpr unsigned last_of_ten = 15;
  constexpr unsigned last_in_a_row = 15;
  constexpr unsigned named_by_year = 26;
  constexpr unsigned newest_major = 60;
  constexpr unsigned last_minor = 9;  // of what is still updated; none has had more than eight
  const auto [major, minor] = version;
  if (major == 10) {
    if (minor >= first_of_ten && minor <= last_of_ten) return std::nullopt;
    return minor < first_of_ten ? "10.4" : "10.15, 11";
  }
  if (major < 10) return "10.4";
  if (major > last_in_a_row && major < named_by_year) return "15, 26";
  if (major > newest_major) return "15, 26";
  const auto* const ended = std::ranges::find(ended_macos, major, &MacosVersion::first);
  const unsigned last = ended == ended_macos.end() ? last_minor : ended->second;
  if (minor <= last) return std::nullopt;
  return ended == ended_macos.end() ? fmt::format("{}", major) : fmt::format("{}.{}", major, last);
}

std::optional<VersionParts> parts_of(std::string_view text) {
  VersionParts parts;
  while (true) {
    const std::size_t dot = text.find('.');
    const std::string_view part = text.substr(0, dot);
    unsigned number = 0;
    const auto [stop, error] = std::from_chars(part.data(), part.data() + part.size(), number);
    if (part.empty() || error != std::errc() || stop != part.data() + part.size())
      return std::nullopt;
    parts.push_back(number);
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

std::string nearest_numbers(const VersionParts& parts, std::vector<std::string> known) {
  constexpr std::size_t most = 3;
  constexpr double step = 1000;
  const auto number = [](const VersionParts& of) {
    return of[0] + (of.size() > 1 ? static_cast<double>(of[1]) / step : 0.0);
  };
  const double wanted = number(parts);
  const auto distance = [&](const std::string& text) {
    const double off = number(*parts_of(text)) - wanted;
    return std::pair(off < 0 ? -off : off, text);
  };
  std::ranges::sort(known, {}, distance);
  if (known.size() > most) known.resize(most);
  return fmt::format("{}", fmt::join(known, ", "));
}

}  // namespace axle::machines
