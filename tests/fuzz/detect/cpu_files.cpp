// What sysfs says of CPUs: lists of them, and MIDR_EL1.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "detect/cpu/aarch64.h"
#include "detect/cpu/x86.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (axle::detect::parse_cpu_list(text).size() > 4096) std::abort();
  const axle::detect::MidrNames names = axle::detect::parse_midr(text);
  if (names.implementer.empty() != names.part.empty()) std::abort();
  if (names.implementer.size() > 4 || names.part.size() > 5) std::abort();
  return 0;
}
