#include "detect/survey.h"

#include "detect/cpu/cpuid_leaves.h"
#include "detect/gpu_vendors.h"
#include "detect/pci_bus.h"

namespace axle::detect {
namespace {

struct SubleafRange {
  std::uint32_t leaf;
  std::uint32_t last_subleaf;
};

// Features, states, models and names. Omitted: caches and topology, which differ from CPU to CPU,
// and leaf 3, a serial number.
constexpr SubleafRange leaves[] = {
    {0x0, 0},        {0x1, 0},        {0x6, 0},        {0x7, 2},        {0xD, 1},
    {0x14, 0},       {0x19, 0},       {0x1A, 0},       {0x1D, 2},       {0x1E, 1},
    {0x21, 0},       {0x24, 1},       {0x29, 0},       {0x40000000, 0}, {0x40000001, 0},
    {0x80000000, 0}, {0x80000001, 0}, {0x80000002, 0}, {0x80000003, 0}, {0x80000004, 0},
    {0x80000007, 0}, {0x80000008, 0}, {0x8000000A, 0}, {0x80000021, 0},
};

void survey_cpuid(Host& host) {
  if (!host.cpuid(0, 0)) return;
  CpuidLeaves within_bounds(host);
  for (const auto& [leaf, last_subleaf] : leaves) {
    for (std::uint32_t subleaf = 0; subleaf <= last_subleaf; ++subleaf) {
      (void)within_bounds.read(leaf, subleaf);
    }
  }
}

void survey_bus(Host& host) {
  const std::string folder = "/sys/bus/pci/devices";
  for (const std::string& address : host.list_folder(folder)) {
    const std::string device = folder + '/' + address;
    const auto id = parse_modalias(host.read_file(device + "/modalias").value_or(""));
    if (!id || !may_accelerate(*id)) continue;
    (void)host.read_link(device + "/driver");
    (void)host.read_file(device + "/revision");
    (void)host.list_folder(device + "/drm");
    (void)host.list_folder(device + "/accel");
  }
}

}  // namespace

void survey_machine(Host& host) {
  host.turn_to("survey");
  survey_cpuid(host);
  for (const unsigned long type : {16UL, 26UL, 29UL, 30UL}) (void)host.auxiliary(type);
  survey_bus(host);
  for (const GpuVendorRow& vendor : gpu_vendors()) {
    for (const std::string_view module : vendor.modules) {
      for (const char* file : {"version", "srcversion"}) {
        (void)host.read_file("/sys/module/" + std::string(module) + '/' + file);
      }
    }
  }
}

}  // namespace axle::detect
