// What is beyond the levels: AMX, ACE, AVX10, APX, and the evidence of what is withheld.
#include <doctest/doctest.h>

#include "detect/cpu/x86.h"
#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;

namespace {

constexpr std::uint64_t xcr0_avx = 0x7;
constexpr std::uint64_t xcr0_avx512 = 0xE7;
constexpr std::uint64_t xcr0_amx = 0x600E7;

Cpu probe(Host& host) {
  Cpu cpu;
  probe_x86(host, cpu);
  return cpu;
}

RecordedHost sapphire_rapids() {
  RecordedHost host;
  host.give_level(4);
  for (const Capability each : {Capability::avx512_vnni, Capability::avx512_fp16,
                                Capability::avx_vnni, Capability::amx_tile, Capability::amx_int8,
                                Capability::amx_bf16, Capability::xsave, Capability::xsavec}) {
    host.give(each);
  }
  host.xcr0_value = xcr0_amx;
  host.xcomp_supported = xcr0_amx;
  host.xcomp_permitted = xcr0_avx512;
  return host;
}

}  // namespace

TEST_CASE("AMX is present when CPU, XCR0 and the kernel's query agree") {
  RecordedHost host = sapphire_rapids();
  Cpu cpu = probe(host);
  CHECK(cpu.capabilities.has(Capability::amx_int8));
  CHECK(cpu.amx_permitted == false);
  CHECK(cpu.sources.at("amx_permitted") == "arch_prctl");
  host.xcomp_permitted = xcr0_amx;
  CHECK(probe(host).amx_permitted == true);
  host.xcr0_value = xcr0_avx512;
  CHECK_FALSE(probe(host).amx_permitted.has_value());
  CHECK(probe(host).sources.at("amx_permitted") == "xcr0");
  host.take(Capability::amx_tile);
  CHECK_FALSE(probe(host).sources.contains("amx_permitted"));
}

TEST_CASE("AMX is blocked where the kernel knows no tiles") {
  RecordedHost host = sapphire_rapids();
  host.xcr0_value = xcr0_avx512;
  host.xcomp_supported = std::nullopt;
  CHECK(probe(host).capabilities.of(Capability::amx_int8) == Presence::blocked);
  host.xcr0_value = xcr0_amx;
  host.xcomp_supported = xcr0_avx512;
  CHECK(probe(host).capabilities.of(Capability::amx_int8) == Presence::blocked);
}

TEST_CASE("AMX is unknown where the query is refused") {
  RecordedHost host = sapphire_rapids();
  host.xcomp_supported = std::nullopt;
  host.xcomp_permitted = std::nullopt;
  const Cpu cpu = probe(host);
  CHECK(cpu.capabilities.of(Capability::amx_tile) == Presence::unknown);
  CHECK(cpu.capabilities.of(Capability::amx_int8) == Presence::unknown);
  CHECK_FALSE(cpu.amx_permitted.has_value());
  CHECK(cpu.sources.at("amx_permitted") == "arch_prctl-refused");
  CHECK(cpu.capabilities.has(Capability::avx512_fp16));
}

TEST_CASE("AMX between ZMM registers needs those too") {
  RecordedHost host = sapphire_rapids();
  host.give(Capability::amx_avx512);
  CHECK(probe(host).capabilities.has(Capability::amx_avx512));
  host.xcr0_value = 0x60007;
  CHECK(probe(host).capabilities.of(Capability::amx_avx512) == Presence::blocked);
  CHECK(probe(host).capabilities.has(Capability::amx_int8));
}

TEST_CASE("AVX10 counts by version and by its own bit") {
  RecordedHost host;
  host.give_level(4);
  host.give(Capability::avx10_1);
  host.xcr0_value = xcr0_avx512;
  CHECK(probe(host).capabilities.has(Capability::avx10_1));
  CHECK(probe(host).capabilities.of(Capability::avx10_2) == Presence::absent);
  host.leaves[{0x24, 0}].ebx = 0x70000 | 3;
  CHECK(probe(host).capabilities.has(Capability::avx10_2));
  host.leaves[{7, 1}].edx = 0;
  CHECK(probe(host).capabilities.of(Capability::avx10_1) == Presence::absent);
}

TEST_CASE("APX needs its registers") {
  RecordedHost host;
  host.give_level(3);
  host.give(Capability::apx_f);
  host.xcr0_value = xcr0_avx;
  CHECK(probe(host).capabilities.of(Capability::apx_f) == Presence::blocked);
  host.xcr0_value |= 0x80000;
  CHECK(probe(host).capabilities.has(Capability::apx_f));
}

TEST_CASE("AVX10 tells its vector lengths apart from its version") {
  RecordedHost host;
  host.give_level(4);
  host.give(Capability::avx10_1);
  host.xcr0_value = xcr0_avx512;
  // Granite Rapids: version 1 with 128, 256 and 512 bits.
  host.leaves[{0x24, 0}].ebx = 0x00070001;
  Cpu cpu = probe(host);
  CHECK(cpu.capabilities.has(Capability::avx10_128));
  CHECK(cpu.capabilities.has(Capability::avx10_256));
  CHECK(cpu.capabilities.has(Capability::avx10_512));
  CHECK(cpu.capabilities.of(Capability::avx10_2) == Presence::absent);
  host.leaves[{0x24, 0}].ebx = 0x00030002;
  cpu = probe(host);
  CHECK(cpu.capabilities.has(Capability::avx10_2));
  CHECK(cpu.capabilities.has(Capability::avx10_256));
  CHECK(cpu.capabilities.of(Capability::avx10_512) == Presence::absent);
  host.leaves[{7, 1}].edx = 0;
  CHECK(probe(host).capabilities.of(Capability::avx10_256) == Presence::absent);
}

TEST_CASE("the size of the tiles is told where there are tiles, within the bounds of its leaves") {
  RecordedHost host = sapphire_rapids();
  // As a Sapphire Rapids answers: palettes up to 1.
  host.leaves[{0, 0}].eax = 0x1E;
  host.leaves[{0x1D, 0}].eax = 1;
  host.leaves[{0x1D, 1}] = {0x04002000, 0x00080040, 0x00000010, 0};
  host.leaves[{0x1D, 2}] = {~0U, ~0U, ~0U, ~0U};
  host.leaves[{0x1E, 0}] = {0, 0x00004010, 0, 0};
  Cpu cpu = probe(host);
  CHECK(cpu.amx_tiles == AmxTiles{.total_bytes = 8192,
                                  .tile_bytes = 1024,
                                  .row_bytes = 64,
                                  .tiles = 8,
                                  .rows = 16,
                                  .multiply_k = 16,
                                  .multiply_n = 64});
  CHECK(cpu.sources.at("amx_tiles") == "cpuid");
  CHECK_FALSE(host.leaves_read.contains({0x1D, 2}));
  CHECK_FALSE(host.leaves_read.contains({0x1E, 1}));
  CHECK_FALSE(cpu.ace_version.has_value());
  // What the kernel thinks of them does not change what they are.
  host.xcomp_supported = std::nullopt;
  CHECK(probe(host).amx_tiles == cpu.amx_tiles);
  host.take(Capability::amx_tile);
  host.leaves_read.clear();
  CHECK_FALSE(probe(host).amx_tiles.has_value());
  CHECK_FALSE(host.leaves_read.contains({0x1D, 1}));
}

TEST_CASE("the version of ACE is told where there is ACE") {
  RecordedHost host = sapphire_rapids();
  host.give(Capability::ace);
  host.leaves[{0, 0}].eax = 0x1E;
  host.leaves[{0x1D, 0}].eax = 2;
  host.leaves[{0x1D, 2}] = {0xFFFFFF03, 0, 0, 0};
  CHECK(probe(host).ace_version == 3U);
  CHECK(probe(host).sources.at("ace_version") == "cpuid");
  host.take(Capability::ace);
  CHECK_FALSE(probe(host).ace_version.has_value());
}

TEST_CASE(
    "APX tells its conditional instructions in a leaf of their own, and they need its state") {
  RecordedHost host;
  host.give_level(3);
  host.give(Capability::apx_f);
  host.xcr0_value = xcr0_avx | 0x80000;
  CHECK(probe(host).capabilities.of(Capability::apx_nci_ndd_nf) == Presence::absent);
  host.give(Capability::apx_nci_ndd_nf);
  CHECK(probe(host).capabilities.has(Capability::apx_nci_ndd_nf));
  host.xcr0_value = xcr0_avx;
  CHECK(probe(host).capabilities.of(Capability::apx_nci_ndd_nf) == Presence::blocked);
}

TEST_CASE("ACE needs its own state beside the tiles") {
  RecordedHost host = sapphire_rapids();
  host.give(Capability::ace);
  CHECK(probe(host).capabilities.of(Capability::ace) == Presence::blocked);
  host.xcr0_value |= 0x100000;
  CHECK(probe(host).capabilities.of(Capability::ace) == Presence::blocked);
  host.xcomp_supported = host.xcr0_value;
  CHECK(probe(host).capabilities.has(Capability::ace));
}

TEST_CASE("what is withheld or unknown leaves its evidence") {
  RecordedHost host = sapphire_rapids();
  CHECK_FALSE(probe(host).sources.contains("amx_int8"));
  host.xcomp_supported = std::nullopt;
  CHECK(probe(host).sources.at("amx_int8") == "arch_prctl-refused");
  host.xcomp_supported = xcr0_avx512;
  CHECK(probe(host).sources.at("amx_int8") == "arch_prctl");
  host.xcr0_value = xcr0_avx;
  CHECK(probe(host).sources.at("amx_int8") == "xcr0");
  CHECK(probe(host).sources.at("avx512f") == "xcr0");
  CHECK_FALSE(probe(host).sources.contains("avx2"));
  host.take(Capability::osxsave);
  CHECK(probe(host).sources.at("avx2") == "xcr0");
  CHECK(probe(host).sources.at("xsave") == "osxsave");
  host = sapphire_rapids();
  host.leaves[{7, 0}].edx |= 1U << 15U;
  host.files["/sys/devices/cpu_atom/cpus"] = "4\n";
  RecordedHost atom;
  atom.give_level(3);
  host.leaves_of_cpu[4] = atom.leaves;
  const Cpu cpu = probe(host);
  CHECK(cpu.hybrid);
  CHECK(cpu.sources.at("avx512f") == "other-cores");
}
