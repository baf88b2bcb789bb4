#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <vector>

#include <level_zero/ze_api.h>

#include "detect/drivers/driver_libraries.h"
#include "detect/drivers/driver_lines.h"
#include "detect/intel/probe.h"

namespace axle::detect {
namespace {

constexpr std::uint32_t most_drivers = 16;

// Not in Debian 12's headers (Level Zero specification 1.10).
struct InitDriverType {  // ze_init_driver_type_desc_t
  std::uint32_t stype = 0x20021;
  const void* next = nullptr;
  std::uint32_t flags = 1;  // ZE_INIT_DRIVER_TYPE_FLAG_GPU
};
using InitDrivers = ze_result_t(std::uint32_t*, ze_driver_handle_t*, InitDriverType*);

struct DeviceIpVersion {  // ze_device_ip_version_ext_t
  std::uint32_t stype = 0x1000F;
  const void* next = nullptr;
  std::uint32_t ip_version = 0;
};

class LevelZero {
 public:
  LevelZero(const VendorLibrary& loader, LineSink& sink) : loader_(loader), sink_(sink) {}

  void ask();

 private:
  template <typename Function>
  Function* find(const char* symbol) {
    auto* function = loader_.find<Function>(symbol);
    if (function == nullptr) sink_.say("ze.symbol", {symbol});
    return function;
  }

  ze_result_t list_drivers(std::vector<ze_driver_handle_t>& drivers);
  void say_driver(ze_driver_handle_t driver);
  void say_device(ze_device_handle_t device);
  std::string pci_address_of(ze_device_handle_t device);
  std::uint64_t memory_of(ze_device_handle_t device);

  const VendorLibrary& loader_;
  LineSink& sink_;
  std::uint32_t devices_ = 0;
};

/// With zeInitDrivers if the loader has it (1.19 and newer), otherwise with zeInit and zeDriverGet.
ze_result_t LevelZero::list_drivers(std::vector<ze_driver_handle_t>& drivers) {
  std::uint32_t count = 0;
  if (auto* init = loader_.find<InitDrivers>("zeInitDrivers")) {
    sink_.say("step", {"zeInitDrivers"});
    InitDriverType type;
    ze_result_t result = init(&count, nullptr, &type);
    if (result != ZE_RESULT_SUCCESS) return result;
    count = std::min(count, most_drivers);
    drivers.resize(count);
    if (count > 0) result = init(&count, drivers.data(), &type);
    drivers.resize(std::min<std::size_t>(drivers.size(), count));
    return result;
  }
  auto* init = find<decltype(zeInit)>("zeInit");
  auto* get = find<decltype(zeDriverGet)>("zeDriverGet");
  if (init == nullptr || get == nullptr) return ZE_RESULT_ERROR_UNKNOWN;
  sink_.say("step", {"zeInit"});
  ze_result_t result = init(ZE_INIT_FLAG_GPU_ONLY);
  if (result != ZE_RESULT_SUCCESS) return result;
  sink_.say("step", {"zeDriverGet"});
  result = get(&count, nullptr);
  if (result != ZE_RESULT_SUCCESS) return result;
  count = std::min(count, most_drivers);
  drivers.resize(count);
  if (count > 0) result = get(&count, drivers.data());
  drivers.resize(std::min<std::size_t>(drivers.size(), count));
  return result;
}

std::string LevelZero::pci_address_of(ze_device_handle_t device) {
  auto* read = loader_.find<decltype(zeDevicePciGetPropertiesExt)>("zeDevicePciGetPropertiesExt");
  ze_pci_ext_properties_t pci{};
  pci.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES;
  if (read == nullptr || read(device, &pci) != ZE_RESULT_SUCCESS) return {};
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", pci.address.domain, pci.address.bus,
                pci.address.device, pci.address.function);
  return text.data();
}

std::uint64_t LevelZero::memory_of(ze_device_handle_t device) {
  auto* read = loader_.find<decltype(zeDeviceGetMemoryProperties)>("zeDeviceGetMemoryProperties");
  std::uint32_t count = 0;
  if (read == nullptr || read(device, &count, nullptr) != ZE_RESULT_SUCCESS) return 0;
  count = std::min(count, std::uint32_t{16});
  std::vector<ze_device_memory_properties_t> memories(count);
  for (auto& memory : memories) memory.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
  if (count == 0 || read(device, &count, memories.data()) != ZE_RESULT_SUCCESS) return 0;
  std::uint64_t total = 0;
  for (const auto& memory : memories) total += memory.totalSize;
  return total;
}

void LevelZero::say_device(ze_device_handle_t device) {
  auto* read = find<decltype(zeDeviceGetProperties)>("zeDeviceGetProperties");
  if (read == nullptr) return;
  DeviceIpVersion version;
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  properties.pNext = &version;
  if (const ze_result_t result = read(device, &properties); result != ZE_RESULT_SUCCESS) {
    return sink_.say("ze.device_error", static_cast<std::int64_t>(result));
  }
  if (properties.type != ZE_DEVICE_TYPE_GPU) return;
  properties.name[sizeof(properties.name) - 1] = '\0';
  const bool integrated = (properties.flags & ZE_DEVICE_PROPERTY_FLAG_INTEGRATED) != 0;
  sink_.say("ze.device", {std::to_string(devices_), std::to_string(properties.vendorId),
                          std::to_string(properties.deviceId), std::to_string(version.ip_version),
                          pci_address_of(device), std::to_string(memory_of(device)),
                          integrated ? "1" : "0", properties.name});
  ++devices_;
}

void LevelZero::say_driver(ze_driver_handle_t driver) {
  if (auto* read = loader_.find<decltype(zeDriverGetApiVersion)>("zeDriverGetApiVersion")) {
    ze_api_version_t version{};
    if (read(driver, &version) == ZE_RESULT_SUCCESS) {
      sink_.say("ze.api", static_cast<std::int64_t>(version));
    }
  }
  if (auto* read = loader_.find<decltype(zeDriverGetProperties)>("zeDriverGetProperties")) {
    ze_driver_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
    if (read(driver, &properties) == ZE_RESULT_SUCCESS) {
      sink_.say("ze.driver", properties.driverVersion);
    }
  }
  auto* get = find<decltype(zeDeviceGet)>("zeDeviceGet");
  if (get == nullptr) return;
  sink_.say("step", {"zeDeviceGet"});
  std::uint32_t count = 0;
  if (get(driver, &count, nullptr) != ZE_RESULT_SUCCESS) return;
  count = std::min(count, most_devices);
  std::vector<ze_device_handle_t> devices(count);
  if (count == 0 || get(driver, &count, devices.data()) != ZE_RESULT_SUCCESS) return;
  devices.resize(std::min<std::size_t>(devices.size(), count));
  for (ze_device_handle_t device : devices) say_device(device);
}

void LevelZero::ask() {
  std::vector<ze_driver_handle_t> drivers;
  const ze_result_t result = list_drivers(drivers);
  sink_.say("ze.init", static_cast<std::int64_t>(result));
  if (result != ZE_RESULT_SUCCESS) return;
  for (ze_driver_handle_t driver : drivers) say_driver(driver);
  sink_.say("ze.count", devices_);
}

}  // namespace

void ask_intel_libraries(LineSink& sink) {
  // The mask hides devices from programs; hidden devices are reported in addition to the facts, not
  // instead of them.
  drop_environment("ZE_AFFINITY_MASK");
  sink.say("step", {"loading libze_loader.so.1"});
  const VendorLibrary loader{"libze_loader.so.1"};
  if (!loader.loaded()) return loader.say_missing(sink, "ze.missing");
  LevelZero(loader, sink).ask();
}

}  // namespace axle::detect
