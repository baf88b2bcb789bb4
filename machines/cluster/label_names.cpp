#include "machines/cluster/label_names.h"

#include <algorithm>
#include <array>

#include "foundation/text/ascii.h"

namespace axle::machines {
namespace {

using detect::Arch;

struct ArchName {
  Arch arch;
  std::string_view name;
};

constexpr ArchName arch_names[] = {{Arch::x86_64, "amd64"},
                                   {Arch::aarch64, "arm64"},
                                   {Arch::ppc64le, "ppc64le"},
                                   {Arch::riscv64, "riscv64"},
                                   {Arch::s390x, "s390x"}};

struct FeatureName {
  std::string_view capability;
  std::string_view label;
};

/// Node Feature Discovery, "Feature labels", CPU: names of klauspost/cpuid without those that are
/// denied by default.
constexpr FeatureName x86_features[] = {
    {"adx", "ADX"},
    {"aes", "AESNI"},
    {"amx_bf16", "AMXBF16"},
    {"amx_complex", "AMXCOMPLEX"},
    {"amx_fp16", "AMXFP16"},
    {"amx_fp8", "AMXFP8"},
    {"amx_int8", "AMXINT8"},
    {"amx_tf32", "AMXTF32"},
    {"amx_tile", "AMXTILE"},
    {"amx_transpose", "AMXTRANSPOSE"},
    {"apx_f", "APX_F"},
    {"avx", "AVX"},
    {"avx10_1", "AVX10"},
    {"avx10_128", "AVX10_128"},
    {"avx10_256", "AVX10_256"},
    {"avx10_512", "AVX10_512"},
    {"avx2", "AVX2"},
    {"avx512_bf16", "AVX512BF16"},
    {"avx512_bitalg", "AVX512BITALG"},
    {"avx512_fp16", "AVX512FP16"},
    {"avx512_vbmi2", "AVX512VBMI2"},
    {"avx512_vnni", "AVX512VNNI"},
    {"avx512_vp2intersect", "AVX512VP2INTERSECT"},
    {"avx512_vpopcntdq", "AVX512VPOPCNTDQ"},
    {"avx512bw", "AVX512BW"},
    {"avx512cd", "AVX512CD"},
    {"avx512dq", "AVX512DQ"},
    {"avx512er", "AVX512ER"},
    {"avx512f", "AVX512F"},
    {"avx512ifma", "AVX512IFMA"},
    {"avx512pf", "AVX512PF"},
    {"avx512vbmi", "AVX512VBMI"},
    {"avx512vl", "AVX512VL"},
    {"avx_ifma", "AVXIFMA"},
    {"avx_ne_convert", "AVXNECONVERT"},
    {"avx_vnni", "AVXVNNI"},
    {"avx_vnni_int16", "AVXVNNIINT16"},
    {"avx_vnni_int8", "AVXVNNIINT8"},
    {"cldemote", "CLDEMOTE"},
    {"clzero", "CLZERO"},
    {"cmpccxadd", "CMPCCXADD"},
    {"fma", "FMA3"},
    {"fma4", "FMA4"},
    {"gfni", "GFNI"},
    {"movbe", "MOVBE"},
    {"movdir64b", "MOVDIR64B"},
    {"movdiri", "MOVDIRI"},
    {"prefetchi", "PREFETCHI"},
    {"serialize", "SERIALIZE"},
    {"sha_ni", "SHA"},
    {"sm3", "SM3_X86"},
    {"sm4", "SM4_X86"},
    {"sse4a", "SSE4A"},
    {"tbm", "TBM"},
    {"vaes", "VAES"},
    {"vpclmulqdq", "VPCLMULQDQ"},
    {"waitpkg", "WAITPKG"},
    {"xop", "XOP"},
    {"xsave", "XSAVE"},
    {"xsavec", "XSAVEC"},
    {"xsaveopt", "XSAVEOPT"},
};

struct DeviceId {
  std::string_view id, gfx;
};

/// pci.ids, vendor 1002.
constexpr DeviceId devices[] = {
    {"738c", "gfx908"}, {"738e", "gfx908"}, {"7408", "gfx90a"}, {"740c", "gfx90a"},
    {"740f", "gfx90a"}, {"7410", "gfx90a"}, {"74a0", "gfx942"}, {"74a1", "gfx942"},
    {"74a2", "gfx942"}, {"74a5", "gfx942"}, {"74a8", "gfx942"}, {"74a9", "gfx942"},
    {"74b5", "gfx942"}, {"74b9", "gfx942"}, {"75a0", "gfx950"}, {"75a3", "gfx950"},
};

}  // namespace

std::string_view kubernetes_arch(Arch arch) {
  const auto* const found = std::ranges::find(arch_names, arch, &ArchName::arch);
  return found == std::end(arch_names) ? std::string_view() : found->name;
}

Arch parse_kubernetes_arch(std::string_view word) {
  const auto* const found = std::ranges::find(arch_names, word, &ArchName::name);
  return found == std::end(arch_names) ? Arch::other : found->arch;
}

std::string feature_label(detect::Capability capability) {
  const detect::CapabilityRow& row = detect::row(capability);
  if (row.arch == Arch::x86_64) {
    const auto* const found = std::ranges::find(x86_features, row.name, &FeatureName::capability);
    return found == std::end(x86_features) ? std::string() : std::string(found->label);
  }
  if (row.arch != Arch::aarch64) return {};
  // There they are those of the kernel, in capitals.
  std::string label(detect::plain_name(row));
  for (char& c : label)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return label;
}

std::optional<detect::Capability> capability_of_label(Arch arch, std::string_view label) {
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.arch == arch && !label.empty() && feature_label(row.id) == label) return row.id;
  }
  return std::nullopt;
}

std::vector<std::string_view> level_labels(unsigned level) {
  std::vector<std::string_view> labels;
  if (level >= 3) labels = {"AVX2", "FMA3"};
  if (level >= 4) labels = {"AVX512F", "AVX512BW", "AVX512CD", "AVX512DQ", "AVX512VL"};
  return labels;
}

std::vector<std::string_view> device_ids_of(std::string_view gfx) {
  std::vector<std::string_view> ids;
  for (const DeviceId& row : devices)
    if (row.gfx == gfx) ids.push_back(row.id);
  return ids;
}

std::string_view gfx_of_device(std::string_view id) {
  const std::string lowered = text::ascii_lower(id);
  const auto* const found = std::ranges::find(devices, std::string_view(lowered), &DeviceId::id);
  return found == std::end(devices) ? std::string_view() : found->gfx;
}

}  // namespace axle::machines
