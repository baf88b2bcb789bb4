#pragma once
// Wheels whose device code is in packages of their own, which extras name: "torch[device-gfx942]".
// The files of index/device-extras, compiled in; docs/alternatives.md has their format.

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::index {

struct DeviceExtras {
  std::string name;
  std::string ns;                     ///< whose values of `feature` name the devices: "amd"
  std::string feature;                ///< "gfx_arch"
  std::string extra;                  ///< "device-{device}"
  std::vector<std::string> projects;  ///< normalised: what may have such extras
  std::string date;                   ///< when the facts were collected
  std::map<std::string, std::string, std::less<>> sources;
  /// device -> the bundles that it belongs to, the nearest first
  std::map<std::string, std::vector<std::string>, std::less<>> devices;

  /// Some device's extra, or that of a bundle or of all of them.
  [[nodiscard]] bool is_device_extra(std::string_view text) const;
  /// The first of the names of `device` that `provided` has an extra for; empty: none.
  [[nodiscard]] std::string extra_for(std::string_view device,
                                      const std::vector<std::string>& provided) const;
};

/// `where` is named in errors. Errors: malformed (line and key), unsupported (a newer schema).
[[nodiscard]] Result<DeviceExtras> parse_device_extras(std::string_view toml, std::string where);

/// The bundled table for `project` (normalised); nullptr: none.
[[nodiscard]] const DeviceExtras* device_extras_of(std::string_view project);

struct ShippedDeviceExtras {
  std::string_view name;  ///< of the file, without ".toml"
  std::string_view toml;
};

/// Sorted by name.
[[nodiscard]] std::span<const ShippedDeviceExtras> shipped_device_extras();

}  // namespace axle::index
