#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "detect/amd/facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const axle::detect::KfdNode node = axle::detect::parse_kfd_properties(text);
  const std::string gfx = axle::detect::render_gfx(node.gfx_target_version);
  if (!gfx.empty() && (!gfx.starts_with("gfx") || gfx.size() > 7)) std::abort();
  const std::string target = axle::detect::render_target_id(node);
  if (!target.empty() && !target.starts_with(gfx)) std::abort();
  // What is an address at all is one that sysfs would write.
  const std::string address = axle::detect::pci_address_of(node);
  if (axle::detect::normalise_pci_address(address) != address) std::abort();
  static_cast<void>(axle::detect::parse_rocm_version(text));
  static_cast<void>(axle::detect::parse_hip_library_name(text));
  static_cast<void>(axle::detect::parse_gfx_override(text));
  return 0;
}
