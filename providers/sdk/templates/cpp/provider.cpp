// The provider of the namespace `acme`: what acme_devices.h finds, said through Axle's C interface.
#include <cstddef>
#include <string>
#include <vector>

#include <axle_provider.h>

#include "acme_devices.h"

namespace {

// The kernel's memory devices exist on every Linux, so that there is something to see. Replace them
// with the class of your driver.
constexpr const char* class_folder = "/sys/class/mem";

void say_devices(const axle_provider_sink* sink, const std::vector<std::string>& devices) {
  // A wheel may have code for several devices, and runs if one of them is present.
  axle_provider_feature(sink, "device", AXLE_PROVIDER_MULTI);
  for (const std::string& device : devices) axle_provider_value(sink, device.c_str());
  // "At least this many": a machine with three supports wheels that need three, two or one.
  axle_provider_feature(sink, "count", AXLE_PROVIDER_SINGLE);
  for (std::size_t count = devices.size(); count > 0; --count)
    axle_provider_value(sink, std::to_string(count).c_str());
}

int32_t supported(const axle_provider_sink* sink) {
  const std::vector<std::string> devices = acme_provider::find_devices(class_folder);
  if (devices.empty()) {
    const std::string reason = std::string("no device of ours in ") + class_folder;
    axle_provider_reason(sink, reason.c_str());
    return AXLE_PROVIDER_OK;
  }
  say_devices(sink, devices);
  return AXLE_PROVIDER_OK;
}

int32_t all(const axle_provider_sink* sink) {
  say_devices(sink, acme_provider::known_devices());
  return AXLE_PROVIDER_OK;
}

}  // namespace

AXLE_PROVIDER("acme", ACME_VERSION, supported, all);
