#pragma once
// The line protocol between a probe child and its parent: one fact a line, a word and its fields
// apart by tabs, written as soon as it is known. The child runs foreign code: what it sends is
// hostile.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace axle::detect {

struct DriverLine {
  std::string word;
  std::vector<std::string> fields;
  /// Field `index`, or empty.
  [[nodiscard]] std::string_view field(std::size_t index) const;
  friend bool operator==(const DriverLine&, const DriverLine&) = default;
};

/// What a name from a driver or from sysfs may have at most, in bytes, and a field of a line, which
/// may be a path.
inline constexpr std::size_t longest_name = 128;
inline constexpr std::size_t longest_field = 1024;

/// Of one vendor: further ones are not asked for.
inline constexpr std::uint32_t most_devices = 256;

/// Printable ASCII of at most `longest` bytes, everything else replaced by '?'.
[[nodiscard]] std::string sanitise(std::string_view text, std::size_t longest = longest_name);

/// Complete lines only (a crash may cut the last), at most 4096 of them, fields sanitised. Names in
/// them are still to be cut to what a name may have.
[[nodiscard]] std::vector<DriverLine> parse_driver_lines(std::string_view text);

/// Decimal or hexadecimal with "0x"; nullopt for anything else, also for what does not fit.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// PCI addresses as sysfs writes them: four digits of domain, lower case ("00000000:65:00.0" is
/// NVML's). Empty when `text` is none.
[[nodiscard]] std::string normalise_pci_address(std::string_view text);

}  // namespace axle::detect
