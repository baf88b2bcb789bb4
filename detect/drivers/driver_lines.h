#pragma once
// The line protocol between a probe child and its parent: one fact per line, a word and its fields
// separated by tabs, written as soon as it is known. The child runs foreign code: its output is not
// trusted.

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

/// The maximum length, in bytes, of a name from a driver or from sysfs, and of a field of a line,
/// which may be a path.
inline constexpr std::size_t longest_name = 128;
inline constexpr std::size_t longest_field = 1024;

/// For one vendor: further ones are not queried.
inline constexpr std::uint32_t most_devices = 256;

/// Printable ASCII of at most `longest` bytes, everything else replaced by '?'.
[[nodiscard]] std::string sanitise(std::string_view text, std::size_t longest = longest_name);

/// Complete lines only (a crash may truncate the last), at most 4096 of them, fields sanitised.
/// Names in them still have to be truncated to the maximum for names.
[[nodiscard]] std::vector<DriverLine> parse_driver_lines(std::string_view text);

/// Decimal or hexadecimal with "0x"; nullopt for anything else, also on overflow.
[[nodiscard]] std::optional<std::int64_t> parse_integer(std::string_view text);

/// PCI addresses in the format of sysfs: four digits of domain, lower case ("00000000:65:00.0" is
/// NVML's). Empty if `text` is not an address.
[[nodiscard]] std::string normalise_pci_address(std::string_view text);

}  // namespace axle::detect
