#include "machines/vendor_facts.h"

#include "detect/gpu_vendors.h"

namespace axle::machines {
namespace {

constexpr const VendorFacts* rows[] = {&nvidia_facts, &amd_facts, &intel_facts};
static_assert(std::size(rows) == detect::gpu_vendors().size(), "a row per vendor");

}  // namespace

const VendorFacts& facts_of(detect::GpuVendor vendor) {
  return *rows[static_cast<std::size_t>(vendor)];
}

}  // namespace axle::machines
