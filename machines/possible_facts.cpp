#include "machines/possible_facts.h"

#include <algorithm>
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

std::optional<std::string> nearest_driver(GpuVendor vendor, std::string_view version) {
  return facts_of(vendor).nearest_driver(version);
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
