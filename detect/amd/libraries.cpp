#include <array>
#include <cstdio>
#include <string>

#include <rocm_smi/rocm_smi.h>

#include "detect/amd/probe.h"
#include "detect/drivers/driver_libraries.h"
#include "detect/drivers/driver_lines.h"

namespace axle::detect {
namespace {

/// rsmi_dev_pci_id_get: domain in bits 32 to 63, bus 8 to 15, device 3 to 7, function 0 to 2.
std::string address_of(std::uint64_t id) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", static_cast<unsigned>(id >> 32U),
                static_cast<unsigned>(id >> 8U) & 0xFFU, static_cast<unsigned>(id >> 3U) & 0x1FU,
                static_cast<unsigned>(id) & 7U);
  return text.data();
}

void say_device(const VendorLibrary& smi, LineSink& sink, std::uint32_t index) {
  std::uint64_t id = 0;
  std::string address;
  if (auto* read = smi.find<decltype(rsmi_dev_pci_id_get)>("rsmi_dev_pci_id_get")) {
    if (read(index, &id) == RSMI_STATUS_SUCCESS) address = address_of(id);
  }
  std::array<char, 128> name{};
  if (auto* read = smi.find<decltype(rsmi_dev_name_get)>("rsmi_dev_name_get")) {
    if (read(index, name.data(), name.size() - 1) != RSMI_STATUS_SUCCESS) name = {};
  }
  std::uint64_t memory = 0;
  if (auto* read = smi.find<decltype(rsmi_dev_memory_total_get)>("rsmi_dev_memory_total_get")) {
    if (read(index, RSMI_MEM_TYPE_VRAM, &memory) != RSMI_STATUS_SUCCESS) memory = 0;
  }
  sink.say("smi.device", {std::to_string(index), address, std::to_string(memory), name.data()});
}

}  // namespace

void ask_amd_libraries(LineSink& sink) {
  sink.say("step", {"loading librocm_smi64.so"});
  // Never load both into one process: they export the same C++ symbols.
  const VendorLibrary smi{"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5",
                          "librocm_smi64.so.1"};
  if (!smi.loaded()) return smi.say_missing(sink, "smi.missing");
  auto* init = smi.find<decltype(rsmi_init)>("rsmi_init");
  auto* count = smi.find<decltype(rsmi_num_monitor_devices)>("rsmi_num_monitor_devices");
  if (init == nullptr || count == nullptr) {
    return sink.say("smi.symbol", {init == nullptr ? "rsmi_init" : "rsmi_num_monitor_devices"});
  }
  sink.say("step", {"rsmi_init"});
  const rsmi_status_t initialised = init(0);
  sink.say("smi.init", initialised);
  if (initialised != RSMI_STATUS_SUCCESS) return;
  if (auto* read = smi.find<decltype(rsmi_version_str_get)>("rsmi_version_str_get")) {
    std::array<char, 128> version{};
    if (read(RSMI_SW_COMP_DRIVER, version.data(), version.size() - 1) == RSMI_STATUS_SUCCESS) {
      sink.say("smi.driver", {version.data()});
    }
  }
  sink.say("step", {"rsmi_num_monitor_devices"});
  std::uint32_t devices = 0;
  if (count(&devices) != RSMI_STATUS_SUCCESS) return;
  sink.say("smi.count", devices);
  for (std::uint32_t i = 0; i < devices && i < most_devices; ++i) say_device(smi, sink, i);
}

}  // namespace axle::detect
