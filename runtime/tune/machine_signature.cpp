#include "runtime/tune/machine_signature.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace axle::runtime {
namespace {

/// The beginning of a short file of the system, "" if it cannot be read.
std::string read_start(const char* path) {
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return {};
  char text[128];
  const std::size_t size = std::fread(text, 1, sizeof text, file);
  std::fclose(file);
  std::string start(text, size);
  return start.substr(0, start.find('\n'));
}

#if defined(__x86_64__)
std::string cpu_name() {
  unsigned largest = 0;
  unsigned words[3] = {};
  if (__get_cpuid(0, &largest, &words[0], &words[2], &words[1]) == 0) return {};
  char vendor[13] = {};
  std::memcpy(vendor, words, 12);
  unsigned version = 0;
  unsigned others[3] = {};
  if (__get_cpuid(1, &version, &others[0], &others[1], &others[2]) == 0) return vendor;
  // Intel SDM vol. 2A, CPUID leaf 1: family and model each have an extended part.
  const unsigned family = ((version >> 8U) & 15U) + ((version >> 20U) & 255U);
  const unsigned model = ((version >> 4U) & 15U) | ((version >> 12U) & 0xf0U);
  char name[64];
  std::snprintf(name, sizeof name, "%s %u/%u/%u", vendor, family, model, version & 15U);
  return name;
}
#else
std::string cpu_name() {
  return read_start("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1");
}
#endif

/// Of the first CPU, data or both; "2048K" in sysfs.
std::uint64_t cache_bytes(int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder =
        "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const std::string own = read_start((folder + "level").c_str());
    if (own.empty()) return 0;
    if (own != std::to_string(level)) continue;
    if (read_start((folder + "type").c_str()) == "Instruction") continue;
    return std::strtoull(read_start((folder + "size").c_str()).c_str(), nullptr, 10) << 10U;
  }
  return 0;
}

std::string features() {
  std::string names;
  for (const KernelRow& row : kernel_table()) {
    for (const detect::Capability capability : row.required) {
      const std::string name(detect::row(capability).name);
      if (!machine_has(capability) || (" " + names + " ").contains(" " + name + " ")) continue;
      names += (names.empty() ? "" : " ") + name;
    }
  }
  return names;
}

}  // namespace

MachineSignature machine_signature(Engine& engine) {
  return {.cpu = cpu_name(),
          .features = features(),
          .l2 = cache_bytes(2),
          .l3 = cache_bytes(3),
          .threads = static_cast<std::uint64_t>(engine.pool().threads()),
          .kernels = AXLE_RUNTIME_KERNEL_SOURCES};
}

}  // namespace axle::runtime
