#include "detect/vendor_probe.h"

#include <iterator>

#include "detect/amd/probe.h"
#include "detect/drivers/driver_libraries.h"
#include "detect/gpu_vendors.h"
#include "detect/intel/probe.h"
#include "detect/nvidia/probe.h"

namespace axle::detect {
namespace {

constexpr VendorProbe vendor_rows[] = {
    {GpuVendor::nvidia, nvidia_signs, ask_nvidia_libraries, add_nvidia, nvidia_lifetime},
    {GpuVendor::amd, amd_signs, ask_amd_libraries, add_amd, amd_lifetime},
    {GpuVendor::intel, intel_signs, ask_intel_libraries, add_intel, intel_lifetime},
};

constexpr bool in_order = [] {
  std::size_t place = 0;
  for (const VendorProbe& row : vendor_rows) {
    if (static_cast<std::size_t>(row.vendor) != place++) return false;
  }
  return true;
}();
static_assert(in_order && std::size(vendor_rows) == gpu_vendors().size(),
              "vendor_probe() finds a row by its enumerator");

}  // namespace

std::span<const VendorProbe> vendor_probes() { return vendor_rows; }

const VendorProbe& vendor_probe(GpuVendor vendor) {
  return vendor_rows[static_cast<std::size_t>(vendor)];
}

}  // namespace axle::detect
