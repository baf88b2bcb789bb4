// Architectures of which the kernel tells all: ppc64le, riscv64, s390x.
#include <doctest/doctest.h>

#include "detect/cpu/riscv.h"
#include "detect/probe.h"
#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;

namespace {

RecordedHost host_of(Arch arch) {
  RecordedHost host;
  host.architecture = arch;
  host.name.machine = render_arch(arch);
  return host;
}

Cpu probe(Host& host) { return probe_machine(host, {.gpus = false}).cpu; }

// Bits of AT_HWCAP as riscv has them: a letter each.
std::uint64_t letters(std::string_view text) {
  std::uint64_t bits = 0;
  for (const char letter : text) bits |= std::uint64_t{1} << (letter - 'A');
  return bits;
}

}  // namespace

TEST_CASE("each capability is read from its own bit of its own word or key, and no other") {
  for (const CapabilityRow& each : capabilities()) {
    if (each.arch == Arch::x86_64 || each.arch == Arch::aarch64) continue;
    CAPTURE(each.name);
    RecordedHost host = host_of(each.arch);
    host.give(each.id);
    const Cpu cpu = probe(host);
    for (const CapabilityRow& other : capabilities()) {
      CAPTURE(other.name);
      CHECK(cpu.capabilities.has(other.id) == (other.id == each.id));
    }
  }
}

TEST_CASE("POWER8, 9 and 10 as their kernels tell them") {
  // Words put together from Linux uapi asm/cputable.h; none with transactional memory.
  RecordedHost host = host_of(Arch::ppc64le);
  host.auxiliary_values = {{16, 0xDC0065C2}, {26, 0xAE000000}};
  Cpu cpu = probe(host);
  CHECK(cpu.arch == Arch::ppc64le);
  CHECK(cpu.capabilities.has(Capability::power_vsx));
  CHECK(cpu.capabilities.has(Capability::power_altivec));
  CHECK(cpu.capabilities.has(Capability::power_arch_2_07));
  CHECK(cpu.capabilities.of(Capability::power_arch_3_00) == Presence::absent);
  host.auxiliary_values[26] = 0xAEE00000;
  cpu = probe(host);
  CHECK(cpu.capabilities.has(Capability::power_arch_3_00));
  CHECK(cpu.capabilities.has(Capability::power_ieee128));
  CHECK(cpu.capabilities.of(Capability::power_mma) == Presence::absent);
  host.auxiliary_values[26] = 0xAEE60000;
  cpu = probe(host);
  CHECK(cpu.capabilities.has(Capability::power_arch_3_1));
  CHECK(cpu.capabilities.has(Capability::power_mma));
  CHECK(cpu.sources.at("capabilities") == "auxv");
}

TEST_CASE("a Z machine whose kernel keeps the vector registers to itself has none") {
  RecordedHost host = host_of(Arch::s390x);
  host.auxiliary_values[16] = 0x37F;
  CHECK(probe(host).capabilities.of(Capability::s390_vx) == Presence::absent);
  host.auxiliary_values[16] = 0x37F | 2048 | 8192 | 32768;
  const Cpu cpu = probe(host);
  CHECK(cpu.capabilities.has(Capability::s390_vx));
  CHECK(cpu.capabilities.has(Capability::s390_vxe));
  CHECK(cpu.capabilities.has(Capability::s390_vxe2));
  CHECK(cpu.capabilities.of(Capability::s390_nnpa) == Presence::absent);
}

TEST_CASE("a word that the kernel does not give leaves its rows unknown, with the reason") {
  RecordedHost host = host_of(Arch::ppc64le);
  host.auxiliary_values = {{16, 0xDC0065C2}};
  const Cpu cpu = probe(host);
  CHECK(cpu.capabilities.has(Capability::power_vsx));
  CHECK(cpu.capabilities.of(Capability::power_mma) == Presence::unknown);
  CHECK(cpu.sources.at("power_mma") == "auxv-without-word");
}

TEST_CASE("riscv_hwprobe reports vectors, their extensions and those of vendors") {
  RecordedHost host = host_of(Arch::riscv64);
  // SpacemiT X60: RVA22 with V 1.0 and Zvfh.
  host.hwprobe = {{0, 0x710}, {1, 0x8000000058000001}, {3, 1}};
  for (const Capability each :
       {Capability::riscv_fd, Capability::riscv_c, Capability::riscv_v, Capability::riscv_zba,
        Capability::riscv_zbb, Capability::riscv_zbs, Capability::riscv_zvfh}) {
    host.give(each);
  }
  const Cpu cpu = probe(host);
  CHECK(cpu.capabilities.has(Capability::riscv_ima));
  CHECK(cpu.capabilities.has(Capability::riscv_v));
  CHECK(cpu.capabilities.has(Capability::riscv_zvfh));
  CHECK(cpu.capabilities.of(Capability::riscv_zvfbfmin) == Presence::absent);
  // This kernel knows no keys of vendors.
  CHECK(cpu.capabilities.of(Capability::riscv_xtheadvector) == Presence::unknown);
  CHECK(cpu.sources.at("riscv_xtheadvector") == "hwprobe-without-key");
  CHECK(cpu.vendor == "0x710");
  CHECK(cpu.model == "0x8000000058000001");
  CHECK(cpu.sources.at("capabilities") == "hwprobe");
}

TEST_CASE("without riscv_hwprobe the letter V alone is not enough: 0.7.1 sets it too") {
  RecordedHost host = host_of(Arch::riscv64);
  host.auxiliary_values[16] = letters("IMAFDCV");
  Cpu cpu = probe(host);
  CHECK(cpu.capabilities.has(Capability::riscv_ima));
  CHECK(cpu.capabilities.has(Capability::riscv_fd));
  CHECK(cpu.capabilities.has(Capability::riscv_c));
  CHECK(cpu.capabilities.of(Capability::riscv_v) == Presence::unknown);
  CHECK(cpu.sources.at("riscv_v") == "auxv-any-version");
  CHECK(cpu.capabilities.of(Capability::riscv_zba) == Presence::unknown);
  CHECK(cpu.sources.at("capabilities") == "auxv");
  host.vtype = 0xC0;
  cpu = probe(host);
  CHECK(cpu.capabilities.has(Capability::riscv_v));
  CHECK(cpu.sources.at("riscv_v") == "vsetvli");
  host.vtype = std::uint64_t{1} << 63U;
  cpu = probe(host);
  CHECK(cpu.capabilities.of(Capability::riscv_v) == Presence::absent);
  CHECK(cpu.sources.at("riscv_v") == "vsetvli");
  host.auxiliary_values[16] = letters("IMAC");
  cpu = probe(host);
  CHECK(cpu.capabilities.of(Capability::riscv_v) == Presence::absent);
  CHECK(cpu.capabilities.of(Capability::riscv_fd) == Presence::absent);
  host.auxiliary_values.clear();
  CHECK(probe(host).capabilities.of(Capability::riscv_ima) == Presence::unknown);
}

TEST_CASE("vectors are only tried if the kernel reports them: otherwise that traps") {
  class Trap : public RecordedHost {
   public:
    std::optional<std::uint64_t> riscv_vtype() override {
      FAIL("vsetvli without vectors");
      return std::nullopt;
    }
  } host;
  host.architecture = Arch::riscv64;
  host.auxiliary_values[16] = letters("IMAFDC");
  CHECK(probe(host).capabilities.of(Capability::riscv_v) == Presence::absent);
  host.auxiliary_values.clear();
  CHECK(probe(host).capabilities.of(Capability::riscv_v) == Presence::unknown);
  host.auxiliary_values[16] = letters("IMAFDCV");
  host.hwprobe = {{3, 1}, {4, 0}};
  CHECK(probe(host).capabilities.of(Capability::riscv_v) == Presence::absent);
}

TEST_CASE("a machine of an architecture that we do not know has no capability") {
  RecordedHost host = host_of(Arch::other);
  host.name.machine = "loongarch64";
  host.auxiliary_values[16] = ~std::uint64_t{0};
  const Cpu cpu = probe(host);
  CHECK(cpu.machine == "loongarch64");
  for (const CapabilityRow& each : capabilities()) {
    CHECK(cpu.capabilities.of(each.id) == Presence::unknown);
  }
}
