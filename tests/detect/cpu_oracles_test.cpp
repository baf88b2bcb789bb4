// This machine's CPU, compared with four others who know it: the loader, the compiler's run-time
// library, the kernel and cpu_features.
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include <cpuinfo_x86.h>
#include <doctest/doctest.h>

#include "detect/probe.h"

using namespace axle::detect;

namespace {

const Cpu& our_cpu() {
  static const Cpu cpu = [] {
    const auto host = make_real_host();
    return probe_machine(*host, {.gpus = false}).cpu;
  }();
  return cpu;
}

const CapabilityFacts& ours() { return our_cpu().capabilities; }

bool has_level(unsigned level) {
  for (unsigned each = 1; each <= level; ++each) {
    for (const Capability capability : x86_64_level(each)) {
      if (!ours().has(capability)) return false;
    }
  }
  return true;
}

std::string output_of(const char* command) {
  std::string text;
  std::FILE* const pipe = ::popen(command, "r");
  if (pipe == nullptr) return text;
  char buffer[4096];
  while (const std::size_t got = std::fread(buffer, 1, sizeof(buffer), pipe))
    text.append(buffer, got);
  ::pclose(pipe);
  return text;
}

/// The first processor's value of `key` in /proc/cpuinfo.
std::string kernel_tells(std::string_view key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || colon + 2 > line.size()) continue;
    if (line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1) == key) {
      return line.substr(colon + 2);
    }
  }
  return {};
}

std::set<std::string> kernel_flags() {
  std::istringstream words(kernel_tells("flags"));
  std::set<std::string> flags;
  for (std::string word; words >> word;) flags.insert(word);
  return flags;
}

}  // namespace

TEST_CASE("the loader's x86-64 levels are ours") {
  const std::string text = output_of("/lib64/ld-linux-x86-64.so.2 --help 2>/dev/null");
  if (text.find("x86-64-v2") == std::string::npos) {
    MESSAGE("skipped: this C library's loader does not tell levels");
    return;
  }
  for (const unsigned level : {2U, 3U, 4U}) {
    CAPTURE(level);
    const std::string line = "x86-64-v" + std::to_string(level) + " (supported";
    CHECK(has_level(level) == (text.find(line) != std::string::npos));
  }
}

TEST_CASE("the compiler's run-time library agrees on every flag that both know") {
  __builtin_cpu_init();
#define SAME(builtin, capability)                                                  \
  CHECK_MESSAGE(ours().has(Capability::capability) ==                              \
                    (static_cast<unsigned>(__builtin_cpu_supports(builtin)) != 0), \
                builtin)
  SAME("cmov", cmov);
  SAME("mmx", mmx);
  SAME("popcnt", popcnt);
  SAME("sse", sse);
  SAME("sse2", sse2);
  SAME("sse3", sse3);
  SAME("ssse3", ssse3);
  SAME("sse4.1", sse4_1);
  SAME("sse4.2", sse4_2);
  SAME("sse4a", sse4a);
  SAME("avx", avx);
  SAME("avx2", avx2);
  SAME("fma", fma);
  SAME("fma4", fma4);
  SAME("xop", xop);
  SAME("bmi", bmi1);
  SAME("bmi2", bmi2);
  SAME("aes", aes);
  SAME("pclmul", pclmulqdq);
  SAME("avx512f", avx512f);
  SAME("avx512bw", avx512bw);
  SAME("avx512cd", avx512cd);
  SAME("avx512dq", avx512dq);
  SAME("avx512vl", avx512vl);
  SAME("avx512ifma", avx512ifma);
  SAME("avx512vbmi", avx512vbmi);
  SAME("avx512vbmi2", avx512_vbmi2);
  SAME("avx512vnni", avx512_vnni);
  SAME("avx512bitalg", avx512_bitalg);
  SAME("avx512vpopcntdq", avx512_vpopcntdq);
  SAME("avx512bf16", avx512_bf16);
  SAME("avx512vp2intersect", avx512_vp2intersect);
  SAME("gfni", gfni);
  SAME("vpclmulqdq", vpclmulqdq);
#undef SAME
  CHECK(has_level(2) == (__builtin_cpu_supports("x86-64-v2") != 0));
  CHECK(has_level(3) == (__builtin_cpu_supports("x86-64-v3") != 0));
  CHECK(has_level(4) == (__builtin_cpu_supports("x86-64-v4") != 0));
}

TEST_CASE("the kernel's flags are ours") {
  const std::set<std::string> flags = kernel_flags();
  if (flags.empty()) {
    MESSAGE("skipped: /proc/cpuinfo lists no flags");
    return;
  }
  // Where the kernel has another word than the published property.
  const std::map<std::string_view, std::string> words{{"sse3", "pni"}};
  // The published properties are named after the kernel's words, so it shows those, except these.
  const std::set<std::string_view> unshown{"cppc", "ibrs_enhanced"};
  // Of the others, new kernels show only some: these, since 5.11 or earlier.
  const std::set<std::string_view> also_shown{
      "fpu",      "cx8",         "cmov",      "fxsr",    "syscall",  "lm",   "amx_tile", "amx_int8",
      "amx_bf16", "avx512_fp16", "serialize", "waitpkg", "cldemote", "fma4", "xop",      "tbm"};
  for (const CapabilityRow& each : capabilities()) {
    if (each.arch != Arch::x86_64) continue;
    CAPTURE(each.name);
    const auto renamed = words.find(each.name);
    const bool shown =
        flags.contains(renamed == words.end() ? std::string(each.name) : renamed->second);
    if (shown) CHECK(ours().of(each.id) != Presence::absent);
    const bool must_be_shown = each.property.starts_with("x86_64 ::")
                                   ? !unshown.contains(each.name)
                                   : also_shown.contains(each.name);
    if (ours().has(each.id) && must_be_shown) CHECK(shown);
  }
}

TEST_CASE("the kernel's names for this CPU are ours") {
  if (kernel_tells("vendor_id").empty()) {
    MESSAGE("skipped: /proc/cpuinfo names no vendor");
    return;
  }
  CHECK(our_cpu().vendor == kernel_tells("vendor_id"));
  CHECK(our_cpu().brand == kernel_tells("model name"));
  CHECK(our_cpu().model ==
        kernel_tells("cpu family") + '-' + kernel_tells("model") + '-' + kernel_tells("stepping"));
  CHECK(our_cpu().hypervisor.empty() != kernel_flags().contains("hypervisor"));
}

TEST_CASE("cpu_features agrees on every flag that both know") {
  const cpu_features::X86Info info = cpu_features::GetX86Info();
  const cpu_features::X86Features& theirs = info.features;
  if (theirs.sse2 == 0) {
    MESSAGE("skipped: cpu_features does not know this vendor");
    return;
  }
  CHECK(our_cpu().vendor == info.vendor);
  CHECK(our_cpu().model == std::to_string(info.family) + '-' + std::to_string(info.model) + '-' +
                               std::to_string(info.stepping));
  // It keeps the spaces around the name.
  CHECK(std::string(info.brand_string).find(our_cpu().brand) != std::string::npos);
  // One-bit signed fields: set is -1.
#define SAME(field, capability) \
  CHECK_MESSAGE(ours().has(Capability::capability) == (theirs.field != 0), #field)
  SAME(fpu, fpu);
  SAME(cx8, cx8);
  SAME(mmx, mmx);
  SAME(aes, aes);
  SAME(f16c, f16c);
  SAME(fma4, fma4);
  SAME(fma3, fma);
  SAME(vaes, vaes);
  SAME(vpclmulqdq, vpclmulqdq);
  SAME(bmi1, bmi1);
  SAME(bmi2, bmi2);
  SAME(sse, sse);
  SAME(sse2, sse2);
  SAME(sse3, sse3);
  SAME(ssse3, ssse3);
  SAME(sse4_1, sse4_1);
  SAME(sse4_2, sse4_2);
  SAME(sse4a, sse4a);
  SAME(avx, avx);
  SAME(avx2, avx2);
  SAME(avx512f, avx512f);
  SAME(avx512cd, avx512cd);
  SAME(avx512er, avx512er);
  SAME(avx512pf, avx512pf);
  SAME(avx512bw, avx512bw);
  SAME(avx512dq, avx512dq);
  SAME(avx512vl, avx512vl);
  SAME(avx512ifma, avx512ifma);
  SAME(avx512vbmi, avx512vbmi);
  SAME(avx512vbmi2, avx512_vbmi2);
  SAME(avx512vnni, avx512_vnni);
  SAME(avx512bitalg, avx512_bitalg);
  SAME(avx512vpopcntdq, avx512_vpopcntdq);
  SAME(avx512_4vnniw, avx512_4vnniw);
  SAME(avx512_bf16, avx512_bf16);
  SAME(avx512_vp2intersect, avx512_vp2intersect);
  SAME(amx_bf16, amx_bf16);
  SAME(amx_tile, amx_tile);
  SAME(amx_int8, amx_int8);
  SAME(pclmulqdq, pclmulqdq);
  SAME(sha, sha_ni);
  SAME(popcnt, popcnt);
  SAME(movbe, movbe);
  SAME(cx16, cx16);
  SAME(clflushopt, clflushopt);
  SAME(clwb, clwb);
  SAME(adx, adx);
#undef SAME
  // It reads CPUID alone, which still has what the kernel withholds.
  CHECK((ours().of(Capability::rdrand) != Presence::absent) == (theirs.rdrnd != 0));
  CHECK((ours().of(Capability::rdseed) != Presence::absent) == (theirs.rdseed != 0));
}
