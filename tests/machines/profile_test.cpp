#include "machines/profile.h"

#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "machines/profile_schema.h"
#include "machines/shipped_profiles.h"

namespace axle::machines {
namespace {

using detect::GpuVendor;
using detect::Machine;
using detect::Presence;

std::string random_text(std::mt19937& random) {
  static const std::vector<std::string> pieces{"",   "a",  "\"",  "\\",   "ä",
                                               "\n", "\t", "9.0", "日本", " "};
  std::string text;
  for (unsigned i = random() % 6; i-- > 0;) text += pieces[random() % pieces.size()];
  return text;
}

Presence random_presence(std::mt19937& random) { return static_cast<Presence>(random() % 4); }

detect::Sources random_sources(std::mt19937& random) {
  detect::Sources sources;
  for (const char* fact : {"arch", "name", "api_version"}) {
    if (random() % 2 == 0) sources[fact] = random_text(random);
  }
  return sources;
}

detect::Gpu random_gpu(std::mt19937& random) {
  detect::Gpu gpu;
  gpu.vendor = static_cast<GpuVendor>(random() % 3);
  gpu.name = random_text(random);
  gpu.pci_address = random_text(random);
  gpu.arch = random_text(random);
  if (random() % 2 == 0) gpu.memory_bytes = std::uint64_t{random()} << (random() % 31);
  gpu.integrated = random() % 2 == 0;
  gpu.masked = random() % 2 == 0;
  gpu.usable = random_presence(random);
  gpu.reason_code = random_text(random);
  gpu.reason = random_text(random);
  gpu.pci_id = random_text(random);
  gpu.target_id = random_text(random);
  gpu.kernel_driver = random_text(random);
  gpu.mig = random() % 2 == 0;
  gpu.sources = random_sources(random);
  return gpu;
}

detect::Npu random_npu(std::mt19937& random) {
  detect::Npu npu;
  npu.kind = static_cast<detect::NpuKind>(random() % 4);
  npu.name = random_text(random);
  npu.pci_address = random_text(random);
  npu.type = random_text(random);
  npu.driver_version = random_text(random);
  npu.toolkit_version = random_text(random);
  npu.usable = random_presence(random);
  npu.reason_code = random_text(random);
  npu.reason = random_text(random);
  npu.sources = random_sources(random);
  return npu;
}

Profile random_profile(std::mt19937& random) {
  Profile profile;
  profile.origin = {"synthesised", "x" + random_text(random), ""};
  if (random() % 2 == 0) profile.origin.date = "2026-11-21";
  if (!profile.origin.date.empty() && random() % 2 == 0) profile.origin.kind = "captured";
  Machine& machine = profile.machine;
  machine.os = {random_text(random),   random_text(random), random_text(random),
                random_text(random),   random() % 2 == 0,   random_text(random),
                random_sources(random)};
  if (random() % 3 != 0)
    machine.libc = {"musl", static_cast<unsigned>(random() % 100),
                    static_cast<unsigned>(random() % 100), random_sources(random)};
  machine.cpu.arch = static_cast<detect::Arch>(random() % 6);
  machine.cpu.machine = random_text(random);
  machine.cpu.vendor = random_text(random);
  machine.cpu.brand = random_text(random);
  machine.cpu.model = random_text(random);
  machine.cpu.hybrid = random() % 2 == 0;
  machine.cpu.logical_cpus = static_cast<unsigned>(random() % 3 == 0 ? 0 : random());
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    machine.cpu.capabilities.set(row.id, random_presence(random));
  }
  if (random() % 2 == 0) machine.cpu.sve_vector_bytes = static_cast<unsigned>(random() % 257);
  if (random() % 2 == 0) machine.cpu.sme_vector_bytes = static_cast<unsigned>(random() % 257);
  machine.cpu.hypervisor = random_text(random);
  if (random() % 3 != 0) machine.cpu.amx_permitted = random() % 2 == 0;
  if (random() % 2 == 0) {
    const auto number = [&random] { return static_cast<unsigned>(1 + random() % 0xFFFF); };
    machine.cpu.amx_tiles = {number(), number(), number(), number(), number(), number(), number()};
  }
  if (random() % 2 == 0) machine.cpu.ace_version = static_cast<unsigned>(random() % 256);
  machine.cpu.sources = random_sources(random);
  for (unsigned i = random() % 4; i-- > 0;) machine.gpus.push_back(random_gpu(random));
  for (const GpuVendor vendor : {GpuVendor::nvidia, GpuVendor::amd, GpuVendor::intel}) {
    if (random() % 2 == 0) continue;
    machine.drivers.push_back({vendor, random_text(random), random_text(random),
                               random_text(random), random_text(random), random_text(random),
                               random_text(random), random_presence(random), random_text(random),
                               random_text(random), random_sources(random)});
  }
  for (unsigned i = random() % 3; i-- > 0;) machine.npus.push_back(random_npu(random));
  if (random() % 2 == 0)
    machine.mps = {random_presence(random), random_text(random), random_text(random),
                   random_sources(random)};
  for (unsigned i = random() % 3; i-- > 0;) {
    machine.problems.push_back({random_text(random), random_text(random), random_text(random)});
  }
  // What somebody stated must be possible (possible_facts_test.cpp).
  if (profile.origin.kind == "synthesised") {
    machine.gpus.clear();
    machine.drivers.clear();
    machine.libc = {};
    machine.os.system.clear();
    machine.mps.reset();
    if (machine.cpu.arch != detect::Arch::aarch64) {
      machine.cpu.sve_vector_bytes.reset();
      machine.cpu.sme_vector_bytes.reset();
    }
    if (machine.cpu.arch != detect::Arch::x86_64) {
      machine.cpu.amx_tiles.reset();
      machine.cpu.ace_version.reset();
    }
    for (const detect::CapabilityRow& row : detect::capabilities()) {
      if (row.arch != machine.cpu.arch) machine.cpu.capabilities.set(row.id, Presence::unknown);
    }
  }
  return profile;
}

TEST_CASE("what is written is read back the same, and written the same again") {
  std::mt19937 random(1);
  for (unsigned round = 0; round < 500; ++round) {
    const Profile profile = random_profile(random);
    const std::string text = render_profile(profile);
    const auto read = parse_profile(text, "test.json");
    REQUIRE_MESSAGE(read.has_value(), read.error().message);
    CHECK(read->machine == profile.machine);
    CHECK(read->origin.kind == profile.origin.kind);
    CHECK(read->origin.source == profile.origin.source);
    CHECK(read->origin.date == profile.origin.date);
    CHECK(render_profile(*read) == text);
    CHECK(text.ends_with("}\n"));
  }
}

TEST_CASE("the shipped profiles are as the writer writes them") {
  REQUIRE(shipped_profiles().size() >= 4);
  for (const ShippedProfile& shipped : shipped_profiles()) {
    const auto profile = parse_profile(shipped.json, shipped.name);
    REQUIRE_MESSAGE(profile.has_value(), profile.error().message);
    const bool captured = shipped.name.starts_with("captured-");
    CHECK(profile->origin.kind == (captured ? "captured" : "synthesised"));
    CHECK_FALSE(profile->origin.source.empty());
    CHECK(render_profile(*profile) == shipped.json);
  }
}

detect::Recording random_recording(std::mt19937& random) {
  detect::Recording recording;
  const auto text = [&] {
    std::string bytes;
    for (unsigned i = random() % 12; i-- > 0;) bytes += static_cast<char>(random() % 256);
    return random() % 2 == 0 ? bytes : random_text(random);
  };
  const auto leaves = [&] {
    detect::CpuidAnswers some;
    for (unsigned i = random() % 4; i-- > 0;) {
      some[{static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random() % 4)}] = {
          static_cast<std::uint32_t>(random()), 0, static_cast<std::uint32_t>(random()), 7};
    }
    return some;
  };
  recording.architecture = static_cast<detect::Arch>(random() % 6);
  recording.leaves = leaves();
  if (random() % 3 == 0) recording.leaves_of_cpu[random() % 100] = leaves();
  recording.xcr0_value = random() % 2 == 0 ? 0 : random();
  if (random() % 2 == 0) recording.xcomp_supported = random();
  if (random() % 2 == 0) recording.xcomp_permitted = 0;
  recording.auxiliary_values[16] = (std::uint64_t{random()} << 32U) | random();
  if (random() % 2 == 0) recording.sve_bytes = 64;
  if (random() % 2 == 0) recording.sme_bytes = 32;
  if (random() % 2 == 0) recording.vtype = random();
  recording.sysctls["hw.optional." + std::to_string(random() % 9)] = random_text(random);
  recording.hwprobe[static_cast<std::int64_t>(random() % 7)] = random();
  recording.name = {random_text(random), random_text(random), "x86_64"};
  recording.cpus = static_cast<unsigned>(random() % 512);
  recording.glibc = random_text(random);
  for (auto* map : {&recording.files, &recording.links, &recording.programs, &recording.stamps}) {
    for (unsigned i = random() % 3; i-- > 0;) (*map)["/p" + std::to_string(random() % 9)] = text();
  }
  for (const auto& [command, output] : recording.programs) {
    if (random() % 2 == 0) recording.stopped.insert(command);
  }
  recording.variables["CUDA_VISIBLE_DEVICES"] = text();
  recording.folders["/dev"] = {"a", "b"};
  recording.nodes["/dev/a"] = static_cast<detect::Access>(random() % 3);
  for (const GpuVendor vendor : {GpuVendor::nvidia, GpuVendor::amd, GpuVendor::intel}) {
    if (random() % 2 == 0) continue;
    recording.answers[vendor] = {static_cast<detect::DriverAnswer::End>(random() % 4),
                                 static_cast<int>(random() % 32),
                                 random() % 2 == 0 ? "a\tb\n\nc" : "a\tb\n"};
  }
  return recording;
}

TEST_CASE("a recording is written and read back the same, and written the same again") {
  std::mt19937 random(2);
  for (unsigned round = 0; round < 500; ++round) {
    Profile profile{{}, {"captured", "test", "2026-11-21"}, random_recording(random)};
    const std::string text = render_profile(profile);
    const auto read = parse_profile(text, "test.json");
    REQUIRE_MESSAGE(read.has_value(), read.error().message);
    REQUIRE(read->recording.has_value());
    CHECK(*read->recording == *profile.recording);
    CHECK(render_profile(*read) == text);
    CHECK(replay_profile(*read) == replay_profile(profile));
  }
}

TEST_CASE("whatever a machine answers can be read back, without what is not a path") {
  detect::Recording recording;
  recording.architecture = detect::Arch::x86_64;
  const std::string endless(longest_text + 1, 'a');
  for (const std::string& path : {std::string("lib/libcuda.so.1"), std::string("./libcuda.so.1"),
                                  std::string("/a\nb"), std::string("/\xff"), endless}) {
    recording.nodes[path] = detect::Access::read;
    recording.files[path] = "x";
    recording.folders[path] = {"y\xff"};
  }
  recording.answers[GpuVendor::amd] = {detect::DriverAnswer::End::not_recorded, 0, ""};
  const Profile profile{{}, {"captured", "test", "2026-11-21"}, recording};
  const auto read = parse_profile(render_profile(profile), "test.json");
  REQUIRE_MESSAGE(read.has_value(), read.error().message);
  CHECK(read->recording->nodes.size() == 2);
  CHECK(read->recording->nodes.contains("lib/libcuda.so.1"));
  CHECK(read->recording->files.size() == 2);
  CHECK(read->recording->folders.size() == 2);
  CHECK(read->recording->answers.empty());
}

void check_malformed(std::string_view json, std::string_view expected) {
  const auto profile = parse_profile(json, "bad.json");
  REQUIRE_FALSE(profile.has_value());
  CHECK(profile.error().kind == ErrorKind::malformed);
  CHECK_MESSAGE(profile.error().message.find(expected) != std::string::npos,
                profile.error().message);
  CHECK(profile.error().message.starts_with("bad.json: "));
}

TEST_CASE("a bad profile is refused with the file and the place") {
  check_malformed("", "is not JSON");
  check_malformed("{\"schema_version\": 1", "is not JSON");
  check_malformed("[]", "an array instead of an object");
  check_malformed("\"text\"", "a string instead of an object");
  check_malformed("{}", "schema_version is missing");
  check_malformed(R"({"schema_version": 0})", "schema_version is missing");
  check_malformed(R"({"schema_version": -1})",
                  "schema_version: expected a whole number up to 1000000");
  check_malformed(R"({"schema_version": 1.5})", "expected a whole number");
  check_malformed(R"({"schema_version": "1"})", "expected a whole number");
  check_malformed(R"({"schema_version": 1, "colour": 1})", "bad.json: unknown key \"colour\"");
  check_malformed(R"({"schema_version": 1, "cpu": {"amx_tiles": {"rows": 4294967296}}})",
                  "cpu.amx_tiles.rows: ");
  check_malformed(R"({"schema_version": 1, "cpu": {"amx_tiles": {"columns": 1}}})",
                  "cpu.amx_tiles: unknown key \"columns\"");
  check_malformed(R"({"schema_version": 1, "cpu": {"ace_version": 256}})", "cpu.ace_version: ");
  check_malformed(R"({"schema_version": 1, "cpu": []})", "cpu: an array instead of an object");
  check_malformed(R"({"schema_version": 1, "cpu": {"arch": "sparc"}})", "cpu.arch: ");
  check_malformed(R"({"schema_version": 1, "cpu": {"arch": 1}})",
                  "cpu.arch: a number instead of a string");
  check_malformed(R"({"schema_version": 1, "cpu": {"hostname": "x"}})",
                  "cpu: unknown key \"hostname\"");
  check_malformed(R"({"schema_version": 1, "cpu": {"capabilities": {"avx9": "present"}}})",
                  "cpu.capabilities: unknown key \"avx9\"");
  check_malformed(R"({"schema_version": 1, "cpu": {"capabilities": {"avx2": "yes"}}})",
                  "cpu.capabilities.avx2: expected present, absent, blocked or unknown");
  check_malformed(R"({"schema_version": 1, "cpu": {"amx_permitted": 1}})", "cpu.amx_permitted: ");
  check_malformed(R"({"schema_version": 1, "cpu": {"logical_cpus": 4294967296}})",
                  "cpu.logical_cpus: ");
  check_malformed(R"({"schema_version": 1, "gpus": {}})",
                  "gpus: expected an array of at most 1024");
  check_malformed(R"({"schema_version": 1, "gpus": [{"vendor": "nvidia"}, {"vendor": "3dfx"}]})",
                  "gpus[1].vendor: expected nvidia, ");
  check_malformed(R"({"schema_version": 1, "gpus": [1]})",
                  "gpus[0]: a number instead of an object");
  check_malformed(R"({"schema_version": 1, "gpus": [{"vendor": "amd", "serial": "1"}]})",
                  "gpus[0]: unknown key \"serial\"");
  check_malformed(R"({"schema_version": 1, "drivers": {"via": {}}})",
                  "drivers: unknown key \"via\"");
  check_malformed(R"({"schema_version": 1, "libc": {"family": "glibc", "version": "2"}})",
                  "libc.version: ");
  check_malformed(R"({"schema_version": 1, "libc": {"version": "2.99999999999"}})",
                  "libc.version: ");
  check_malformed(R"({"schema_version": 1, "os": {"system": "windows"}})",
                  "os.system: expected Linux, Windows or Darwin");
  check_malformed(
      R"({"schema_version": 1, "os": {"system": "Windows"}, "libc": {"family": "glibc", "version": "2.28"}})",
      "libc.family: Windows has no glibc");
  check_malformed(
      R"({"schema_version": 1, "os": {"system": "Windows"}, "cpu": {"arch": "aarch64", "capabilities": {"avx512f": "present"}}})",
      "cpu.capabilities.avx512f: avx512f is of x86_64, and the CPU is aarch64");
  check_malformed(R"({"schema_version": 1, "os": {"system": "Darwin", "name": "macOS 17.0"}})",
                  "os.name: no machine has macOS 17.0; nearest known: 15, 26");
  check_malformed(R"({"schema_version": 1, "os": {"name": "a\u001b[31m"}})", "control characters");
  check_malformed(R"({"schema_version": 1, "os": {}, "os": {}})", "the key \"os\" is duplicated");
  check_malformed("{\"schema_version\": 1, \"os\": {\"name\": \"\xff\"}}", "is not JSON");
}

void check_recording(const std::string& recording, std::string_view expected) {
  check_malformed(R"({"schema_version": 2, "origin": {"kind": "synthesised", "source": "x"}, )"
                  R"("recording": {"arch": "x86_64", )" +
                      recording + "}}",
                  expected);
}

TEST_CASE("a bad recording is refused with the place") {
  check_recording(R"("cpuid": {"7": "0"})", "recording.cpuid.7: expected a leaf such as 7:0");
  check_recording(
      R"("cpuid": {"7:0": "00000000 00000000 00000000"})",
      "recording.cpuid.\"7:0\": expected eax ebx ecx edx, eight hexadecimal digits each");
  check_recording(R"("cpuid": {"7:0": "00000000 00000000 00000000 0000000g"})", ".\"7:0\": ");
  check_recording(R"("cpuid": {"7:0": 1})",
                  "recording.cpuid.\"7:0\": a number instead of a string");
  check_recording(R"("cpuid_of": {"first": {}})",
                  "recording.cpuid_of.first: expected the number of a CPU");
  check_recording(R"("xcr0": "7")", "recording.xcr0: expected a mask such as 0x600e7");
  check_recording(R"("auxv": {"AT_HWCAP": "0x1"})",
                  "recording.auxv.AT_HWCAP: expected a number as key");
  check_recording(R"("files": {"": ""})", "a path as key");
  check_recording(R"("files": {"/a\u0001b": ""})", "a path as key");
  check_recording(R"("files": {"/a": {"hex": "0"}})", "recording.files.\"/a\": ");
  check_recording(R"("files": {"/a": {"base64": "0"}})", "recording.files.\"/a\": ");
  check_recording(R"("files": {"/a": 1})", "recording.files.\"/a\": a number instead of an object");
  check_recording(R"("stopped": "/a")", "recording.stopped: expected an array of `programs`");
  check_recording(R"("programs": {"/a": ""}, "stopped": ["/b"])",
                  "expected an array of `programs`");
  check_recording(R"("folders": {"/a": ["b/c"]})", "expected an array of names");
  check_recording(R"("folders": {"/a": "b"})", "expected an array of names");
  check_recording(R"("nodes": {"/a": "x"})", "recording.nodes.\"/a\": expected rw, r or none");
  check_recording(R"("drivers": {"nvidia": {}})", "recording.drivers.nvidia.end: ");
  check_recording(R"("drivers": {"nvidia": {"end": "finished", "lines": "a"}})", "array of lines");
  check_recording(R"("drivers": {"nvidia": {"end": "finished", "lines": ["a\nb"]}})", ".lines");
  check_recording(R"("drivers": {"nvidia": {"end": "finished", "signal": 1000}})", ".signal");
  check_recording(R"("drivers": {"via": {}})", "recording.drivers: unknown key \"via\"");
  check_recording(R"("serial": "1")", "recording: unknown key \"serial\"");
  check_recording(R"("cpus": -1)", "recording.cpus: ");
  std::string many = R"("nodes": {)";
  for (std::size_t i = 0; i <= most_answers; ++i) {
    many += (i > 0 ? ",\"/" : "\"/") + std::to_string(i) + "\":\"r\"";
  }
  check_recording(many + "}", "recording.nodes: expected at most 16384 entries");
}

TEST_CASE("a profile says where it is from") {
  check_malformed(R"({"schema_version": 2})", "origin: expected the origin of the profile");
  check_malformed(R"({"schema_version": 2, "origin": {"kind": "guessed", "source": "x"}})",
                  "origin.kind: expected captured or synthesised");
  check_malformed(R"({"schema_version": 2, "origin": {"kind": "captured"}})", "origin.source: ");
  check_malformed(
      R"({"schema_version": 2, "origin": {"kind": "captured", "source": "x", "date": "today"}})",
      "origin.date: expected a date such as 2026-11-21");
  check_malformed(R"({"schema_version": 2, "origin": {"kind": "captured", "source": "x"}})",
                  "origin.date: expected a date such as 2026-11-21");
  CHECK(parse_profile(R"({"schema_version": 1})", "old.json").has_value());
}

TEST_CASE("a profile has a recording or facts, never both") {
  check_malformed(R"({"schema_version": 2, "origin": {"kind": "synthesised", "source": "x"}, )"
                  R"("recording": {"arch": "other"}, "gpus": []})",
                  "bad.json: unknown key \"gpus\"");
}

TEST_CASE("what is not UTF-8 is written in hexadecimal") {
  Profile profile{{}, {"captured", "test", "2026-11-21"}, detect::Recording{}};
  profile.recording->files["/a"] = "\xff\x01";
  profile.recording->files["/b"] = std::string("a\0\n", 3);
  const std::string text = render_profile(profile);
  CHECK(text.find(R"("hex": "ff01")") != std::string::npos);
  CHECK(text.find(R"("/b": "a\u0000\n")") != std::string::npos);
  CHECK(parse_profile(text, "x")->recording->files == profile.recording->files);
}

TEST_CASE("size and depth are bounded") {
  check_malformed(std::string(largest_profile + 1, ' '), "too large for a machine profile");
  std::string deep = R"({"schema_version": 1, "x": )";
  deep += std::string(100'000, '[');
  check_malformed(deep, "nested more than 8 deep");
  check_malformed(
      R"({"schema_version": 1, "os": {"name": ")" + std::string(longest_text + 1, 'x') + "\"}}",
      "too long");
}

TEST_CASE("a newer schema is unsupported, not malformed") {
  const auto profile = parse_profile(R"({"schema_version": 3, "new": {}})", "new.json");
  REQUIRE_FALSE(profile.has_value());
  CHECK(profile.error().kind == ErrorKind::unsupported);
  CHECK(profile.error().message ==
        "new.json: schema_version: 3 is newer than this version of Axle, which reads profiles up "
        "to 2");
}

TEST_CASE("facts for programs have every key, unknown ones null") {
  Machine machine;
  machine.cpu.arch = detect::Arch::x86_64;
  for (unsigned level = 1; level <= 3; ++level) {
    for (const detect::Capability capability : detect::x86_64_level(level)) {
      machine.cpu.capabilities.set(capability, Presence::present);
    }
  }
  machine.gpus.push_back({});
  machine.drivers.push_back({});
  const std::string facts = render_machine_json(machine);
  for (const char* expected :
       {R"("arch": "x86_64")", R"("level": "v3")", R"("avx2": "present")", R"("gpus": [)",
        R"("vendor": "nvidia")", R"("memory_bytes": null)", R"("usable": "unknown")",
        R"("drivers": {)", R"("api_version": null)", R"("os": {)", R"("libc": {)",
        R"("problems": [])"}) {
    CHECK_MESSAGE(facts.find(expected) != std::string::npos, expected);
  }
  // Of the CPU's own architecture what is not known is said; of others nothing.
  CHECK(facts.find(R"("avx512f": "unknown")") != std::string::npos);
  CHECK(facts.find("arm_sve") == std::string::npos);
}

TEST_CASE("AMX is told as three questions: of the CPU, of the kernel, of this process") {
  Machine machine;
  machine.cpu.arch = detect::Arch::x86_64;
  const auto told = [&] {
    const std::string facts = render_machine_json(machine);
    const std::size_t begin = facts.find(R"("amx": {)");
    REQUIRE(begin != std::string::npos);
    std::string words;
    for (const char c : facts.substr(begin, facts.find('}', begin) - begin)) {
      if (c != ' ' && c != '\n' && c != '"') words += c;
    }
    return words;
  };
  const auto set = [&](Presence presence, const char* evidence) {
    machine.cpu.capabilities.set(detect::Capability::amx_tile, presence);
    machine.cpu.sources.clear();
    if (evidence != nullptr) machine.cpu.sources["amx_tile"] = evidence;
  };
  CHECK(told() == "amx:{cpu:unknown,os:unknown,permitted:unknown");
  set(Presence::absent, nullptr);
  CHECK(told() == "amx:{cpu:absent,os:unknown,permitted:unknown");
  set(Presence::blocked, "xcr0");
  CHECK(told() == "amx:{cpu:present,os:blocked,permitted:unknown");
  set(Presence::unknown, "arch_prctl-refused");
  CHECK(told() == "amx:{cpu:present,os:unknown,permitted:unknown");
  set(Presence::present, nullptr);
  machine.cpu.amx_permitted = false;
  CHECK(told() == "amx:{cpu:present,os:present,permitted:absent");
  machine.cpu.amx_permitted = true;
  CHECK(told() == "amx:{cpu:present,os:present,permitted:present");
  machine.cpu.arch = detect::Arch::aarch64;
  CHECK(render_machine_json(machine).find(R"("amx": null)") != std::string::npos);
}

TEST_CASE("bytes that are no UTF-8 do not stop a profile from being written") {
  Profile profile;
  profile.machine.cpu.brand = "odd \xff brand";
  CHECK(render_profile(profile).find("odd \xEF\xBF\xBD brand") != std::string::npos);
}

}  // namespace
}  // namespace axle::machines
