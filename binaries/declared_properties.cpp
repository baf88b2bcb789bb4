#include "binaries/declared_properties.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "detect/cpu/aarch64_versions.h"
#include "providers/exclusive_properties.h"
#include "providers/gpu_archs.h"

namespace axle::binaries {
namespace {

using detect::Arch;
using detect::Capability;
using detect::OsState;
using wheel::Property;

const detect::CapabilityRow* row_of(const Property& property) {
  const std::string text = wheel::render_property(property);
  const auto found = std::ranges::find(detect::capabilities(), std::string_view(text),
                                       &detect::CapabilityRow::property);
  return found == detect::capabilities().end() ? nullptr : &*found;
}

bool is_x86_level(const Property& property) {
  return property.ns == "x86_64" && property.feature == "level";
}

bool is_arm_version(const Property& property) {
  return (property.ns == "aarch64" && property.feature == "version") ||
         (property.ns == "axle" && property.feature.starts_with("arm_version"));
}

/// 0: none.
unsigned level_of(Capability capability) {
  for (unsigned level = 1; level <= detect::last_x86_64_level; ++level) {
    if (std::ranges::find(detect::x86_64_level(level), capability) !=
        detect::x86_64_level(level).end())
      return level;
  }
  return 0;
}

/// Xeon Phi has these without the rest of x86-64-v4 (Intel SDM vol. 1, 15.2).
bool is_of_xeon_phi(Capability capability) {
  using enum Capability;
  constexpr Capability parts[] = {avx512f,       avx512cd,      avx512er,        avx512pf,
                                  avx512_4vnniw, avx512_4fmaps, avx512_vpopcntdq};
  return std::ranges::find(parts, capability) != std::end(parts);
}

void add_levels(unsigned highest, std::set<Capability>& all) {
  for (unsigned level = 1; level <= highest; ++level) {
    const auto adds = detect::x86_64_level(level);
    all.insert(adds.begin(), adds.end());
  }
}

/// The streaming extensions each include those before, in the order of the table.
void add_streaming(Capability capability, std::set<Capability>& all) {
  using enum Capability;
  constexpr Capability chain[] = {sse3, ssse3, sse4_1, sse4_2};
  const auto* const at = std::ranges::find(chain, capability);
  if (at != std::end(chain)) all.insert(std::begin(chain), at);
}

void add_x86(const detect::CapabilityRow& row, std::set<Capability>& all) {
  all.insert(row.id);
  const unsigned level = level_of(row.id);
  if (row.os_state == OsState::tile) {
    add_levels(4, all);
    all.insert(Capability::amx_tile);
  } else if (row.os_state == OsState::zmm) {
    add_levels(is_of_xeon_phi(row.id) ? 3 : 4, all);
    all.insert({Capability::avx512f, Capability::avx512cd});
  } else if (row.os_state == OsState::ymm) {
    add_levels(2, all);
    all.insert(Capability::avx);
    if (level == 0) all.insert(Capability::avx2);
  } else if (level > 1) {
    add_levels(level - 2, all);
    add_streaming(row.id, all);
  }
}

void add_arm(const detect::CapabilityRow& row, std::set<Capability>& all) {
  all.insert(row.id);
  if (row.name.starts_with("arm_sve")) all.insert(Capability::arm_sve);
  if (row.name.starts_with("arm_sme")) all.insert(Capability::arm_sme);
}

/// The lowest of the levels that are allowed; 1 without any.
unsigned least_level(const wheel::VariantProperties& properties) {
  std::optional<unsigned> least;
  for (const Property& property : properties) {
    if (!is_x86_level(property) || property.value.size() != 2) continue;
    if (property.value[0] != 'v' || property.value[1] < '1' || property.value[1] > '9') continue;
    const auto level = static_cast<unsigned>(property.value[1] - '0');
    least = std::min(least.value_or(level), level);
  }
  return std::min(least.value_or(1), detect::last_x86_64_level);
}

/// Of several versions only their common features.
std::set<Capability> common_of_versions(const wheel::VariantProperties& properties) {
  std::optional<std::set<Capability>> common;
  for (const Property& property : properties) {
    if (!is_arm_version(property)) continue;
    const auto needs = detect::aarch64_requirements(property.value, detect::VersionRule::soft);
    const std::set<Capability> own(needs.begin(), needs.end());
    if (!common) {
      common = own;
    } else {
      std::erase_if(*common, [&](Capability one) { return !own.contains(one); });
    }
  }
  return common.value_or(std::set<Capability>{});
}

/// "90_real" -> "9.0"; empty if it has another form, also of more digits than any has.
std::string compute_capability(std::string_view digits) {
  constexpr std::size_t most = 4;
  const bool number = digits.size() >= 2 && digits.size() <= most &&
                      std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (!number) return {};
  return std::string(digits.substr(0, digits.size() - 1)) + '.' + digits.back();
}

std::optional<DeclaredGpu> nvidia_gpu(const Property& property) {
  const bool named = (property.ns == "nvidia" && property.feature == "sm_arch") ||
                     (property.ns == "axle" && property.feature.starts_with("cuda_code"));
  const std::size_t end = property.value.find('_');
  if (!named || end == std::string::npos) return std::nullopt;
  const std::string_view kind = std::string_view(property.value).substr(end);
  DeclaredGpu gpu{wheel::render_property(property), detect::GpuVendor::nvidia,
                  compute_capability(std::string_view(property.value).substr(0, end))};
  gpu.ptx = kind == "_virtual";
  if (gpu.arch.empty() || (kind != "_real" && !gpu.ptx)) return std::nullopt;
  return gpu;
}

std::optional<DeclaredGpu> amd_gpu(const Property& property) {
  const bool named = (property.ns == "amd" && property.feature == "gfx_arch") ||
                     (property.ns == "axle" && property.feature == "gfx_code");
  if (!named || !property.value.starts_with("gfx")) return std::nullopt;
  DeclaredGpu gpu{wheel::render_property(property), detect::GpuVendor::amd, property.value};
  gpu.generic = property.value.ends_with("_generic");
  if (gpu.generic) std::ranges::replace(gpu.arch, '_', '-');
  return gpu;
}

constexpr const char* newest_cuda = "99.0";

/// PTX that every GPU from the declared one on accepts, if its driver runs `cuda`.
CodeFit judge_declared_ptx(const BinaryFacts& facts, const DeclaredGpu& declared,
                           const std::string& cuda) {
  std::string digits = declared.arch;
  std::erase(digits, '.');
  const auto architecture = static_cast<std::uint32_t>(std::stoul(digits));
  const auto runs = providers::parse_major_minor(cuda);
  auto best = CodeFit::absent;
  for (const CudaGroup& group : facts.cuda.groups) {
    for (const CudaCode& code : group.codes) {
      if (code.kind != CudaCodeKind::ptx || code.target != 0 || code.architecture > architecture)
        continue;
      const auto needs = providers::parse_major_minor(cuda_of_ptx(code.major, code.minor));
      const bool newer = needs && runs && *needs > *runs;
      best = std::min(best, newer ? CodeFit::needs_newer_driver : CodeFit::runs);
    }
  }
  return best;
}

/// Exactly that generic target.
CodeFit judge_generic(const BinaryFacts& facts, const DeclaredGpu& declared) {
  const bool there = std::ranges::any_of(facts.hip.entries, [&](const BundleEntry& entry) {
    return entry.target.substr(0, entry.target.find(':')) == declared.arch;
  });
  return there ? CodeFit::runs : CodeFit::absent;
}

bool is_version(std::string_view text) {
  return !text.empty() && text.size() <= 9 &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '.'; });
}

}  // namespace

Arch declared_architecture(const wheel::VariantProperties& properties) {
  for (const Property& property : properties) {
    if (is_x86_level(property)) return Arch::x86_64;
    if (is_arm_version(property)) return Arch::aarch64;
    if (const auto* row = row_of(property)) return row->arch;
  }
  return Arch::other;
}

std::set<Capability> declared_capabilities(const wheel::VariantProperties& properties, Arch arch) {
  std::set<Capability> all;
  if (arch == Arch::x86_64) {
    add_levels(least_level(properties), all);
  } else if (arch == Arch::aarch64) {
    all = common_of_versions(properties);
    all.insert({Capability::arm_fp, Capability::arm_asimd});
    if (all.contains(Capability::arm_sve2)) all.insert(Capability::arm_sve);
  }
  for (const Property& property : properties) {
    const detect::CapabilityRow* row = row_of(property);
    if (row == nullptr || row->arch != arch) continue;
    if (arch == Arch::x86_64) add_x86(*row, all);
    if (arch == Arch::aarch64) add_arm(*row, all);
  }
  return all;
}

std::string declared_cuda(const wheel::VariantProperties& properties) {
  std::string least;
  for (const Property& property : properties) {
    if (property.ns != "nvidia" || property.feature != "cuda_version_lower_bound" ||
        !is_version(property.value))
      continue;
    const auto version = providers::parse_major_minor(property.value);
    const auto before = providers::parse_major_minor(least);
    if (version && (!before || *version < *before)) least = property.value;
  }
  return least;
}

std::vector<std::string> properties_of_others(const wheel::VariantProperties& properties,
                                              Arch arch) {
  std::vector<std::string> others;
  for (const Property& property : properties) {
    const Arch own = providers::architecture_of({property.ns, property.feature, property.value});
    if (own != Arch::other && own != arch) others.push_back(wheel::render_property(property));
  }
  return others;
}

CodeFit judge_declared_gpu(const BinaryFacts& facts, const DeclaredGpu& declared,
                           const std::string& cuda) {
  if (declared.ptx || declared.generic) {
    const CodeFit fit = declared.generic ? judge_generic(facts, declared)
                                         : judge_declared_ptx(facts, declared, cuda);
    return fit == CodeFit::absent && !facts.unread.empty() ? CodeFit::unknown : fit;
  }
  detect::Machine machine;
  detect::Driver driver;
  driver.vendor = declared.vendor;
  driver.api_version = cuda.empty() ? newest_cuda : cuda;
  machine.drivers = {driver};
  detect::Gpu gpu;
  gpu.vendor = declared.vendor;
  gpu.arch = declared.arch;
  return judge_binary(facts, gpu, machine);
}

std::vector<DeclaredGpu> declared_gpus(const wheel::VariantProperties& properties) {
  std::vector<DeclaredGpu> gpus;
  for (const Property& property : properties) {
    if (auto gpu = nvidia_gpu(property)) gpus.push_back(std::move(*gpu));
    if (auto gpu = amd_gpu(property)) gpus.push_back(std::move(*gpu));
    if (property.ns == "intel" && property.feature == "device_ip") {
      gpus.push_back({wheel::render_property(property), detect::GpuVendor::intel, property.value});
    }
  }
  return gpus;
}

}  // namespace axle::binaries
