#include <string>

#include <doctest/doctest.h>

#include "detect/cpu/kernel_flags.h"
#include "detect/probe.h"
#include "detect/record/scrub.h"
#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;

namespace {

RecordedHost machine(const std::string& release, const std::string& flags) {
  RecordedHost host;
  host.architecture = Arch::x86_64;
  host.name = {"Linux", release, "x86_64"};
  for (const Capability each : {Capability::adx, Capability::rdrand, Capability::rdseed}) {
    host.give(each);
  }
  if (!flags.empty()) {
    host.files["/proc/cpuinfo"] = "processor\t: 0\nflags\t\t: " + flags +
                                  "\nvmx flags\t: rdseed\n\nprocessor\t: 1\nflags\t\t: rdseed\n\n";
  }
  return host;
}

Cpu probe(Host& host) { return probe_machine(host, {.gpus = false}).cpu; }

bool is_withheld(const Cpu& cpu, Capability capability) {
  const auto source = cpu.sources.find(row(capability).name);
  const bool told = source != cpu.sources.end() && source->second == "cpuinfo-without-flag";
  CHECK(told == (cpu.capabilities.of(capability) == Presence::blocked));
  return told;
}

}  // namespace

TEST_CASE("what the kernel knows by name and does not list is blocked") {
  RecordedHost host = machine("6.18.44-cloud", "fpu sse2 rdrand adx");
  const Cpu cpu = probe(host);
  CHECK(is_withheld(cpu, Capability::rdseed));
  CHECK(cpu.capabilities.has(Capability::rdrand));
  host.take(Capability::rdseed);
  CHECK(probe(host).capabilities.of(Capability::rdseed) == Presence::absent);
}

TEST_CASE("what the kernel lists is present, wherever it stands in the line") {
  for (const char* flags : {"rdseed fpu rdrand", "fpu rdseed rdrand", "rdrand fpu rdseed "}) {
    CAPTURE(flags);
    RecordedHost host = machine("6.18.44", flags);
    CHECK(probe(host).capabilities.has(Capability::rdseed));
  }
  RecordedHost similar = machine("6.18.44", "rdrand rdseed2 xrdseed");
  CHECK(is_withheld(probe(similar), Capability::rdseed));
}

TEST_CASE("other features are read with CPUID only") {
  RecordedHost host = machine("6.18.44", "fpu rdrand rdseed");
  CHECK(probe(host).capabilities.has(Capability::adx));
}

TEST_CASE("without a complete line of flags nothing is withheld") {
  for (const char* content : {"", "processor\t: 0\n\n", "flags\t\t:\n", "flags\t\t: fpu rdra",
                              "flags", "vmx flags\t: fpu\n", "Features\t: fp asimd\n"}) {
    CAPTURE(content);
    RecordedHost host = machine("6.18.44", "");
    const Cpu before = probe(host);
    host.files["/proc/cpuinfo"] = content;
    CHECK(probe(host) == before);
    CHECK(before.capabilities.has(Capability::rdseed));
  }
}

TEST_CASE("a kernel that may not know the name does not withhold it") {
  for (const char* release : {"2.6.32-754.el6.x86_64", "3.6.11", "3", "", "next", "-1.2"}) {
    CAPTURE(release);
    RecordedHost host = machine(release, "fpu sse2");
    CHECK(probe(host).capabilities.has(Capability::rdseed));
  }
  for (const char* release : {"3.7.0", "3.10.0-1160.el7.x86_64", "4.4", "10"}) {
    CAPTURE(release);
    RecordedHost host = machine(release, "fpu sse2");
    CHECK(is_withheld(probe(host), Capability::rdseed));
    CHECK(is_withheld(probe(host), Capability::rdrand));
  }
}

TEST_CASE("another system's file says nothing") {
  RecordedHost host = machine("14.1", "fpu sse2");
  host.name.system = "FreeBSD";
  CHECK(probe(host).capabilities.has(Capability::rdseed));
}

TEST_CASE("a recording keeps of /proc/cpuinfo what detection reads") {
  RecordedHost host = machine("6.18.44", "fpu rdrand");
  RecordingHost recorder(host);
  const Cpu cpu = probe(recorder);
  const Recording kept = scrub(recorder.recording(), {});
  CHECK(kept.files.at("/proc/cpuinfo") == "flags\t\t: fpu rdrand\nflags\t\t: rdseed\n");
  ReplayHost replayed(kept);
  CHECK(probe(replayed) == cpu);
}

TEST_CASE("enhanced IBRS is the kernel's flag, whatever its mitigations are") {
  RecordedHost host = machine("6.18.44", "fpu rdrand rdseed");
  host.files["/sys/devices/system/cpu/vulnerabilities/spectre_v2"] = "Vulnerable\n";
  CHECK_FALSE(probe(host).capabilities.has(Capability::ibrs_enhanced));
  host = machine("6.18.44", "fpu rdrand ibrs_enhanced rdseed");
  host.files["/sys/devices/system/cpu/vulnerabilities/spectre_v2"] = "Vulnerable\n";
  const Cpu cpu = probe(host);
  CHECK(cpu.capabilities.has(Capability::ibrs_enhanced));
  CHECK(cpu.sources.at("ibrs_enhanced") == "cpuinfo");
}
