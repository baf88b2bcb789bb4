#include "detect/cpu/darwin.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "detect/drivers/driver_lines.h"
#include "detect/text_pieces.h"

namespace axle::detect {
namespace {

using enum Capability;

/// After "hw.optional."; several names if macOS has renamed it (Apple, "Determining instruction
/// set characteristics").
struct SysctlFlag {
  Capability capability;
  std::string_view name;
  std::string_view older = {};
};

constexpr SysctlFlag features[] = {
    {arm_fp, "floatingpoint"},
    {arm_asimd, "arm.AdvSIMD", "neon"},
    {arm_aes, "arm.FEAT_AES"},
    {arm_pmull, "arm.FEAT_PMULL"},
    {arm_sha1, "arm.FEAT_SHA1"},
    {arm_sha2, "arm.FEAT_SHA256"},
    {arm_crc32, "arm.FEAT_CRC32", "armv8_crc32"},
    {arm_atomics, "arm.FEAT_LSE", "armv8_1_atomics"},
    {arm_fphp, "arm.FEAT_FP16", "neon_fp16"},
    {arm_asimdhp, "arm.FEAT_FP16", "neon_fp16"},
    {arm_asimdrdm, "arm.FEAT_RDM"},
    {arm_jscvt, "arm.FEAT_JSCVT"},
    {arm_fcma, "arm.FEAT_FCMA", "armv8_3_compnum"},
    {arm_lrcpc, "arm.FEAT_LRCPC"},
    {arm_ilrcpc, "arm.FEAT_LRCPC2"},
    {arm_dcpop, "arm.FEAT_DPB"},
    {arm_dcpodp, "arm.FEAT_DPB2"},
    {arm_sha3, "arm.FEAT_SHA3", "armv8_2_sha3"},
    {arm_sha512, "arm.FEAT_SHA512", "armv8_2_sha512"},
    {arm_asimddp, "arm.FEAT_DotProd"},
    {arm_asimdfhm, "arm.FEAT_FHM", "armv8_2_fhm"},
    {arm_dit, "arm.FEAT_DIT"},
    {arm_uscat, "arm.FEAT_LSE2"},
    {arm_flagm, "arm.FEAT_FlagM"},
    {arm_flagm2, "arm.FEAT_FlagM2"},
    {arm_ssbs, "arm.FEAT_SSBS"},
    {arm_sb, "arm.FEAT_SB"},
    {arm_paca, "arm.FEAT_PAuth"},
    {arm_pacg, "arm.FEAT_PAuth"},
    {arm_frint, "arm.FEAT_FRINTTS"},
    {arm_i8mm, "arm.FEAT_I8MM"},
    {arm_bf16, "arm.FEAT_BF16"},
    {arm_ebf16, "arm.FEAT_EBF16"},
    {arm_bti, "arm.FEAT_BTI"},
    {arm_ecv, "arm.FEAT_ECV"},
    {arm_afp, "arm.FEAT_AFP"},
    {arm_rpres, "arm.FEAT_RPRES"},
    {arm_wfxt, "arm.FEAT_WFxT"},
    {arm_cssc, "arm.FEAT_CSSC"},
    {arm_hbc, "arm.FEAT_HBC"},
    {arm_mte, "arm.FEAT_MTE2"},
    {arm_mte3, "arm.FEAT_MTE3"},
    {arm_mtestoreonly, "arm.FEAT_MTE_STORE_ONLY"},
    {arm_sme, "arm.FEAT_SME"},
    {arm_sme2, "arm.FEAT_SME2"},
    {arm_sme2p1, "arm.FEAT_SME2p1"},
    {arm_smef32f32, "arm.SME_F32F32"},
    {arm_smebi32i32, "arm.SME_BI32I32"},
    {arm_smeb16f32, "arm.SME_B16F32"},
    {arm_smef16f32, "arm.SME_F16F32"},
    {arm_smei8i32, "arm.SME_I8I32"},
    {arm_smei16i32, "arm.SME_I16I32"},
    {arm_smef64f64, "arm.FEAT_SME_F64F64"},
    {arm_smei16i64, "arm.FEAT_SME_I16I64"},
    {arm_smef16f16, "arm.FEAT_SME_F16F16"},
    {arm_smeb16b16, "arm.FEAT_SME_B16B16"},
};

std::optional<std::uint64_t> read_number(Host& host, const std::string& name) {
  const std::string answer = host.sysctl(name).value_or("");
  const std::string_view text = trim(answer);
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc{} || stop != end) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> read_feature(Host& host, const SysctlFlag& feature) {
  const std::string folder = "hw.optional.";
  const auto value = read_number(host, folder + std::string(feature.name));
  if (value || feature.older.empty()) return value;
  return read_number(host, folder + std::string(feature.older));
}

/// 32 bits, which sysctl prints with a sign: -634136515 is an M2.
std::optional<std::uint32_t> read_family(Host& host) {
  const std::string answer = host.sysctl("hw.cpufamily").value_or("");
  const std::string_view text = trim(answer);
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  const bool fits = value >= std::numeric_limits<std::int32_t>::min() &&
                    value <= std::int64_t{std::numeric_limits<std::uint32_t>::max()};
  if (text.empty() || error != std::errc{} || stop != end || !fits) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

void set_names(Host& host, Cpu& cpu) {
  constexpr const char* apple = "0x61";  // the implementer in MIDR_EL1
  cpu.vendor = apple;
  cpu.brand = sanitise(trim(host.sysctl("machdep.cpu.brand_string").value_or("")));
  if (const auto family = read_family(host)) {
    std::array<char, 24> text;
    std::snprintf(text.data(), text.size(), "0x%x", static_cast<unsigned>(*family));
    cpu.model = text.data();
  }
  for (const char* fact : {"arch", "vendor", "brand", "model", "capabilities"}) {
    cpu.sources[fact] = "sysctl";
  }
}

}  // namespace

bool probe_apple(Host& host, Cpu& cpu) {
  if (read_number(host, "hw.optional.arm64") != 1U) return false;
  if (read_number(host, "sysctl.proc_translated") == 1U) {
    cpu.hypervisor = "VirtualApple";
    cpu.sources["hypervisor"] = "sysctl";
  }
  cpu.arch = Arch::aarch64;
  set_names(host, cpu);
  for (const SysctlFlag& feature : features) {
    const auto value = read_feature(host, feature);
    if (!value) {
      cpu.sources[std::string(row(feature.capability).name)] = "sysctl-without-name";
      continue;
    }
    cpu.capabilities.set(feature.capability, *value == 0 ? Presence::absent : Presence::present);
  }
  if (cpu.capabilities.has(arm_sme)) {
    const auto bytes = read_number(host, "hw.optional.arm.sme_max_svl_b");
    if (bytes && *bytes <= 256) cpu.sme_vector_bytes = static_cast<unsigned>(*bytes);
    cpu.sources["sme_vector_bytes"] = cpu.sme_vector_bytes ? "sysctl" : "sysctl-without-name";
  }
  return true;
}

std::uint64_t darwin_zmm_state(Host& host, std::string_view release, std::uint64_t xcr0) {
  constexpr std::uint64_t zmm = 0xE0;
  constexpr std::pair<unsigned, unsigned> sound{21, 3};
  std::pair<unsigned, unsigned> version{};
  const char* const end = release.data() + release.size();
  const auto [dot, error] = std::from_chars(release.data(), end, version.first);
  if (error == std::errc{} && dot != end) std::from_chars(dot + 1, end, version.second);
  const bool told = read_number(host, "hw.optional.avx512f") == 1U;
  return told && version >= sound ? xcr0 | zmm : xcr0 & ~zmm;
}

}  // namespace axle::detect
