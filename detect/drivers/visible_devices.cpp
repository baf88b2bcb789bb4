#include "detect/drivers/visible_devices.h"

#include <algorithm>
#include <optional>

#include "detect/drivers/driver_lines.h"
#include "detect/text_pieces.h"

namespace axle::detect {
namespace {

/// Removes the next entry of a comma-separated list from `rest`.
std::string_view take_entry(std::string_view& rest) {
  const std::size_t comma = rest.find(',');
  const std::string_view entry = trim(rest.substr(0, comma));
  rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  return entry;
}

std::optional<std::size_t> device_of(std::string_view entry,
                                     const std::vector<std::string>& uuids) {
  if (const auto number = parse_integer(entry)) {
    if (*number < 0 || static_cast<std::size_t>(*number) >= uuids.size()) return std::nullopt;
    return static_cast<std::size_t>(*number);
  }
  if (entry.empty()) return std::nullopt;
  const auto found =
      std::ranges::find_if(uuids, [&](const std::string& uuid) { return uuid.starts_with(entry); });
  if (found == uuids.end()) return std::nullopt;
  return static_cast<std::size_t>(found - uuids.begin());
}

}  // namespace

std::vector<bool> visible_by_list(std::string_view mask, const std::vector<std::string>& uuids) {
  std::vector<bool> visible(uuids.size(), false);
  std::string_view rest = mask;
  while (!rest.empty()) {
    const std::string_view entry = take_entry(rest);
    if (entry.starts_with("MIG-")) return std::vector<bool>(uuids.size(), true);
    const auto device = device_of(entry, uuids);
    const bool by_uuid = entry.starts_with("GPU-");
    if (!device && by_uuid && std::ranges::find(uuids, "") != uuids.end()) {
      return std::vector<bool>(uuids.size(), true);
    }
    if (!device) break;
    visible[*device] = true;
  }
  return visible;
}

std::vector<bool> visible_by_affinity(std::string_view mask, std::size_t devices) {
  if (trim(mask).empty()) return std::vector<bool>(devices, true);
  std::vector<bool> visible(devices, false);
  std::string_view rest = mask;
  while (!rest.empty()) {
    const std::string_view entry = take_entry(rest);
    const auto number = parse_integer(entry.substr(0, entry.find('.')));
    if (number && *number >= 0 && static_cast<std::size_t>(*number) < devices) {
      visible[static_cast<std::size_t>(*number)] = true;
    }
  }
  return visible;
}

}  // namespace axle::detect
