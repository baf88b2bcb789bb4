#include "resolver/predicate/machine_facts.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

#include "detect/cpu/aarch64_versions.h"
#include "detect/cpu/darwin.h"
#include "detect/os/macos.h"
#include "foundation/text/ascii.h"
#include "providers/gfx_code.h"
#include "providers/gpu_archs.h"
#include "providers/nvidia_state.h"
#include "providers/platforms.h"
#include "providers/provider.h"

namespace axle::resolver {

using detect::Arch;
using detect::GpuVendor;
using detect::Machine;
using detect::Presence;

namespace {

constexpr std::string_view has = "has";
constexpr std::string_view unknown_gpu = "unknown";

std::string joined(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : "+") + value;
  return text;
}

std::vector<std::string> split_at(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string render(std::pair<unsigned, unsigned> version) {
  return providers::render_version(version);
}

/// "12.0" <-> "120"
std::string digits_of(const providers::MajorMinor& capability) {
  return std::to_string(capability.first) + std::to_string(capability.second);
}
std::string with_dot(std::string_view digits) {
  return std::string(digits.substr(0, digits.size() - 1)) + "." +
         std::string(digits.substr(digits.size() - 1));
}

void put(FactValues& facts, std::string_view fact, std::string value) {
  if (!value.empty()) facts.insert_or_assign(std::string(fact), std::move(value));
}

void put_cpu(FactValues& facts, const detect::Cpu& cpu) {
  const bool named = cpu.arch == Arch::other && !cpu.machine.empty();
  if (named || cpu.arch != Arch::other)
    put(facts, "arch", named ? cpu.machine : std::string(detect::render_arch(cpu.arch)));
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.arch == cpu.arch && cpu.capabilities.has(row.id))
      put(facts, std::string(cpu_fact) + std::string(row.name), std::string(has));
  }
  if (cpu.arch == Arch::x86_64) {
    const unsigned level = detect::highest_x86_64_level(cpu.capabilities);
    if (level > 0) put(facts, "x86_64", "v" + std::to_string(level));
  }
  if (cpu.arch != Arch::aarch64) return;
  for (const detect::Aarch64Version& version : detect::aarch64_versions) {
    if (!std::ranges::all_of(version.adds, [&](auto each) { return cpu.capabilities.has(each); }))
      break;
    put(facts, "aarch64", std::string(version.name));
  }
  if (cpu.capabilities.has(detect::Capability::arm_sve) && cpu.sve_vector_bytes)
    put(facts, "sve_bytes", std::to_string(*cpu.sve_vector_bytes));
  if (cpu.capabilities.has(detect::Capability::arm_sme) && cpu.sme_vector_bytes)
    put(facts, "sme_bytes", std::to_string(*cpu.sme_vector_bytes));
}

void put_nvidia(FactValues& facts, const Machine& machine, const providers::GpuPolicy& policy) {
  const detect::Driver* driver = providers::counted_nvidia_driver(machine, policy);
  const auto cuda =
      driver == nullptr ? std::nullopt : providers::parse_major_minor(driver->api_version);
  if (cuda && providers::is_cuda_version(*cuda, *driver)) put(facts, "driver", render(*cuda));
  std::vector<std::string> archs;
  for (const auto& capability : providers::counted_capabilities(machine, policy))
    archs.push_back(capability ? digits_of(*capability) : std::string(unknown_gpu));
  put(facts, "sm", joined(archs));
  for (const providers::Feature& feature : providers::supported_platforms(machine, policy)) {
    if (feature.name == "aarch64_platform") put(facts, "arm_platform", joined(feature.values));
  }
}

/// Of the GPUs that count, each once.
std::string archs_of(const Machine& machine, GpuVendor vendor, const providers::GpuPolicy& policy) {
  std::vector<std::string> archs;
  for (const detect::Gpu* gpu : providers::counted_gpus(machine, vendor, policy)) {
    std::string arch = vendor == GpuVendor::amd ? providers::gfx_name(gpu->arch) : gpu->arch;
    if (arch.empty() || !providers::parse_gpu_arch(*gpu)) arch = unknown_gpu;
    if (std::ranges::find(archs, arch) == archs.end()) archs.push_back(std::move(arch));
  }
  return joined(archs);
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 3> ascend_features = {
    {{"npu_type", "npu"}, {"driver_version", "npu_driver"}, {"cann_version", "cann"}}};

void put_npus(FactValues& facts, const Machine& machine) {
  for (const providers::Feature& feature :
       providers::find_provider("ascend")->supported(machine, {})) {
    for (const auto& [name, fact] : ascend_features) {
      if (feature.name == name) put(facts, fact, feature.values.front());
    }
  }
  for (const providers::Feature& feature : providers::find_provider("tpu")->supported(machine, {}))
    put(facts, "tpu", feature.values.front());
}

// --- the other way round ---------------------------------------------------------------------

Arch arch_named(std::string_view name) {
  for (const Arch arch : {Arch::x86_64, Arch::aarch64, Arch::ppc64le, Arch::riscv64, Arch::s390x}) {
    if (detect::render_arch(arch) == name) return arch;
  }
  return Arch::other;
}

void set_cpu(detect::Cpu& cpu, const FactValues& facts) {
  const std::string arch(value_of(facts, "arch"));
  cpu.arch = arch_named(arch);
  cpu.machine = arch;
  const auto add = [&](detect::Capability each) { cpu.capabilities.set(each, Presence::present); };
  if (cpu.arch != Arch::other) {
    for (const detect::CapabilityRow& row : detect::capabilities()) {
      if (row.arch == cpu.arch) cpu.capabilities.set(row.id, Presence::absent);
    }
  }
  for (const auto& [fact, value] : facts) {
    if (!fact.starts_with(cpu_fact)) continue;
    const auto capability = detect::find_capability(std::string_view(fact).substr(cpu_fact.size()));
    if (capability) add(*capability);
  }
  const std::string_view level = value_of(facts, "x86_64");
  for (unsigned at = 1; !level.empty() && at <= static_cast<unsigned>(level.back() - '0'); ++at)
    std::ranges::for_each(detect::x86_64_level(at), add);
  const std::string_view version = value_of(facts, "aarch64");
  for (const detect::Aarch64Version& row : detect::aarch64_versions) {
    if (version.empty() || is_older(version, row.name)) break;
    std::ranges::for_each(row.adds, add);
  }
  const auto set_length = [&](std::string_view fact, detect::Capability capability,
                              std::optional<unsigned>& bytes) {
    const std::string length(value_of(facts, fact));
    if (length.empty()) return;
    add(capability);
    bytes = static_cast<unsigned>(std::stoul(length));
  };
  set_length("sve_bytes", detect::Capability::arm_sve, cpu.sve_vector_bytes);
  set_length("sme_bytes", detect::Capability::arm_sme, cpu.sme_vector_bytes);
}

void add_gpus(Machine& machine, GpuVendor vendor, std::string_view archs) {
  for (std::string arch : split_at(archs, '+')) {
    detect::Gpu& gpu = machine.gpus.emplace_back();
    gpu.vendor = vendor;
    gpu.usable = Presence::present;
    if (arch == unknown_gpu) continue;
    gpu.arch = vendor == GpuVendor::nvidia ? with_dot(arch) : std::move(arch);
  }
}

void set_driver(Machine& machine, GpuVendor vendor, std::string_view api) {
  if (api.empty()) return;
  detect::Driver& driver = machine.drivers.emplace_back();
  driver.vendor = vendor;
  driver.api_version = api;
  // So it counts without a GPU, too.
  driver.api_source = "override";
  driver.usable = Presence::present;
}

void set_arm_platform(Machine& machine, std::string_view platform) {
  if (platform == "tegra") machine.os.tegra_release = "36.4";
  if (platform != "tegra+sbsa") return;
  machine.os.tegra_release = "38.2";
  detect::Gpu& thor = machine.gpus.emplace_back();
  thor.vendor = GpuVendor::nvidia;
  thor.arch = "11.0";
  thor.usable = Presence::absent;
}

void set_npus(Machine& machine, const FactValues& facts) {
  detect::Npu ascend;
  ascend.type = value_of(facts, "npu");
  ascend.driver_version = value_of(facts, "npu_driver");
  ascend.toolkit_version = value_of(facts, "cann");
  if (!ascend.type.empty() || !ascend.driver_version.empty() || !ascend.toolkit_version.empty()) {
    ascend.usable = Presence::present;
    // They are written as the provider says them, not as the machine does.
    for (const char* version : {"driver_version", "toolkit_version"})
      ascend.sources[version] = "override";
    machine.npus.push_back(std::move(ascend));
  }
  const std::string_view tpu = value_of(facts, "tpu");
  if (tpu == "false") return;
  detect::Npu& one = machine.npus.emplace_back();
  one.kind = detect::NpuKind::tpu;
  one.usable = tpu.empty() ? Presence::unknown : Presence::present;
}

// --- what is known of each fact -----------------------------------------------------------------

constexpr std::array rows = {
    FactRow{"system", FactKind::named, "operating system"},
    FactRow{"arch", FactKind::named, "architecture"},
    FactRow{"libc", FactKind::named, "C library"},
    FactRow{"macos", FactKind::ordered, "macOS"},
    FactRow{"mps", FactKind::ordered, "macOS with MPS"},
    FactRow{"kernel", FactKind::named, "release of the kernel"},
    FactRow{"x86_64", FactKind::ordered, "x86-64 level"},
    FactRow{"aarch64", FactKind::ordered, "Arm version"},
    FactRow{"cpu", FactKind::flag, "CPU"},
    FactRow{"sve_bytes", FactKind::named, "SVE vector length"},
    FactRow{"sme_bytes", FactKind::named, "SME vector length"},
    FactRow{"driver", FactKind::ordered, "NVIDIA driver"},
    FactRow{"sm", FactKind::named, "NVIDIA GPU"},
    FactRow{"arm_platform", FactKind::named, "Arm platform"},
    FactRow{"rocm", FactKind::ordered, "ROCm"},
    FactRow{"gfx", FactKind::named, "AMD GPU"},
    FactRow{"device", FactKind::named, "Intel GPU"},
    FactRow{"npu", FactKind::named, "Ascend NPU"},
    FactRow{"npu_driver", FactKind::named, "driver of the NPU"},
    FactRow{"cann", FactKind::named, "CANN"},
    FactRow{"tpu", FactKind::named, "TPU"},
    FactRow{"property", FactKind::flag, "property"},
};

/// The numbers of a version: {2, 28} of "glibc 2.28", {3} of "v3", {8, 2} of "8.2a".
std::vector<unsigned> numbers_in(std::string_view text) {
  std::vector<unsigned> numbers;
  bool inside = false;
  for (const char c : text) {
    const bool digit = text::is_ascii_digit(c);
    if (digit && !inside) numbers.push_back(0);
    constexpr unsigned most = 100'000'000;
    if (digit && numbers.back() < most) numbers.back() = numbers.back() * 10 + unsigned(c - '0');
    inside = digit;
  }
  return numbers;
}

std::string cpu_fact_of(detect::Capability capability) {
  return std::string(cpu_fact) + std::string(detect::row(capability).name);
}

using Names = std::vector<std::string>;

/// Of namespace axle, which has something of everything.
Names facts_behind_axle(const wheel::Property& property) {
  const std::string_view feature = property.feature;
  if (feature == "gpu") {
    return property.value == "nvidia" ? Names{"sm"}
           : property.value == "amd"  ? Names{"gfx"}
                                      : Names{"device"};
  }
  if (feature == "cuda_code") return {"sm"};
  if (feature == "cuda_code_or_jit") return {"driver", "sm"};
  if (feature == "cuda_compressed_code") return {"driver"};
  if (feature == "gfx_code") return {"gfx"};
  if (feature == "rocm_version_lower_bound") return {"rocm"};
  if (feature == "aarch64_platform") return {"arm_platform", "sm"};
  if (feature == "mps") return {"mps"};
  if (feature == "intel_platform") return {"device"};
  if (feature.starts_with("sve_bytes")) return {"sve_bytes"};
  if (feature.starts_with("sme_bytes")) return {"sme_bytes"};
  const bool strict = feature == "arm_version_strict";
  if (!strict && feature != "arm_version") return {};
  Names names;
  const auto rule = strict ? detect::VersionRule::strict : detect::VersionRule::soft;
  for (const detect::Capability each : detect::aarch64_requirements(property.value, rule))
    names.push_back(cpu_fact_of(each));
  return names;
}

/// "axle :: avx10_bits :: 512" is a capability, though its row has another property.
std::optional<detect::Capability> avx10_capability(const wheel::Property& property) {
  if (property.ns != "axle") return std::nullopt;
  const bool length = property.feature == "avx10_bits";
  if (!length && property.feature != "avx10_version") return std::nullopt;
  return detect::find_capability("avx10_" + property.value);
}

bool is_in_levels(detect::Capability capability) {
  for (unsigned level = 1; level <= detect::last_x86_64_level; ++level) {
    const auto own = detect::x86_64_level(level);
    if (std::ranges::find(own, capability) != own.end()) return true;
  }
  return false;
}

bool is_in_versions(detect::Capability capability) {
  return std::ranges::any_of(detect::aarch64_versions, [&](const detect::Aarch64Version& version) {
    return std::ranges::find(version.adds, capability) != version.adds.end();
  });
}

/// The fact `whole` and a capability.
bool limits(std::string_view whole, std::string_view flag) {
  if (!flag.starts_with(cpu_fact)) return false;
  const auto capability = detect::find_capability(flag.substr(cpu_fact.size()));
  if (!capability) return false;
  if (whole == "x86_64") return is_in_levels(*capability);
  if (whole == "aarch64") return is_in_versions(*capability);
  if (whole == "sve_bytes") return *capability == detect::Capability::arm_sve;
  return whole == "sme_bytes" && *capability == detect::Capability::arm_sme;
}

}  // namespace

std::string_view value_of(const FactValues& facts, std::string_view fact) {
  const auto found = facts.find(fact);
  return found == facts.end() ? std::string_view() : std::string_view(found->second);
}

FactValues facts_of(const Machine& machine, const providers::GpuPolicy& policy) {
  FactValues facts;
  put(facts, "system", text::ascii_lower(machine.os.system));
  put(facts, "kernel", machine.os.kernel);
  const bool has_choice = machine.os.system.empty() || machine.os.system == "Linux";
  if (!machine.libc.family.empty() && has_choice)
    put(facts, "libc",
        machine.libc.family + " " + render({machine.libc.major, machine.libc.minor}));
  if (const auto version = detect::macos_version(machine.os)) {
    put(facts, "macos", render(*version));
    if (machine.mps && machine.mps->usable == Presence::present)
      put(facts, "mps", render(*version));
  }
  put_cpu(facts, machine.cpu);
  put_nvidia(facts, machine, policy);
  if (const auto rocm = providers::counted_rocm(machine, policy)) put(facts, "rocm", render(*rocm));
  put(facts, "gfx", archs_of(machine, GpuVendor::amd, policy));
  put(facts, "device", archs_of(machine, GpuVendor::intel, policy));
  put_npus(facts, machine);
  return facts;
}

Machine machine_with(const FactValues& facts) {
  Machine machine;
  machine.os.system = value_of(facts, "system");
  if (!machine.os.system.empty() && machine.os.system.front() >= 'a')
    machine.os.system.front() = static_cast<char>(machine.os.system.front() - 'a' + 'A');
  machine.os.kernel = value_of(facts, "kernel");
  if (const auto version = providers::parse_major_minor(value_of(facts, "macos")))
    machine.os.name = detect::macos_name(*version);
  // The fact alone is of a Mac, too: platforms are looked at apart.
  if (const auto version = providers::parse_major_minor(value_of(facts, "mps"))) {
    machine.os.system = detect::darwin;
    machine.os.name = detect::macos_name(*version);
    machine.mps.emplace().usable = Presence::present;
  }
  if (const std::string_view libc = value_of(facts, "libc"); !libc.empty()) {
    const std::size_t space = libc.find(' ');
    const auto version = providers::parse_major_minor(libc.substr(space + 1));
    machine.libc.family = libc.substr(0, space);
    if (version) std::tie(machine.libc.major, machine.libc.minor) = *version;
  }
  set_cpu(machine.cpu, facts);
  add_gpus(machine, GpuVendor::nvidia, value_of(facts, "sm"));
  add_gpus(machine, GpuVendor::amd, value_of(facts, "gfx"));
  add_gpus(machine, GpuVendor::intel, value_of(facts, "device"));
  set_driver(machine, GpuVendor::nvidia, value_of(facts, "driver"));
  set_driver(machine, GpuVendor::amd, value_of(facts, "rocm"));
  set_arm_platform(machine, value_of(facts, "arm_platform"));
  set_npus(machine, facts);
  return machine;
}

std::span<const FactRow> fact_rows() { return rows; }

const FactRow* find_fact_row(std::string_view fact) {
  std::string_view name = fact;
  if (fact.starts_with(cpu_fact)) name = "cpu";
  if (fact.starts_with(property_fact)) name = "property";
  const auto found = std::ranges::find(rows, name, &FactRow::name);
  return found == rows.end() ? nullptr : &*found;
}

std::pair<std::size_t, std::string> fact_order(std::string_view fact) {
  const FactRow* row = find_fact_row(fact);
  return {row == nullptr ? rows.size() : static_cast<std::size_t>(row - rows.data()),
          std::string(fact)};
}

bool is_older(std::string_view left, std::string_view right) {
  const auto of_left = numbers_in(left);
  const auto of_right = numbers_in(right);
  return of_left != of_right ? of_left < of_right : left < right;
}

std::string_view architecture_of_fact(std::string_view fact) {
  if (fact == "x86_64") return "x86_64";
  if (fact == "aarch64" || fact == "sve_bytes" || fact == "sme_bytes" || fact == "arm_platform")
    return "aarch64";
  if (!fact.starts_with(cpu_fact)) return {};
  const auto capability = detect::find_capability(fact.substr(cpu_fact.size()));
  return capability ? detect::render_arch(detect::row(*capability).arch) : std::string_view();
}

std::vector<std::string> facts_behind(const wheel::Property& property) {
  const providers::Provider* provider = providers::find_provider(property.ns);
  if (provider == nullptr || provider->every_value_fits) return {};
  if (property.ns == "nvidia")
    return property.feature == "sm_arch" ? Names{"driver", "sm"} : Names{"driver"};
  if (property.ns == "amd") return {property.feature == "gfx_arch" ? "gfx" : "rocm"};
  if (property.ns == "intel") return {"device"};
  if (property.ns == "tpu") return {"tpu"};
  if (property.ns == "ascend") {
    const auto row = std::ranges::find(ascend_features, property.feature,
                                       &std::pair<std::string_view, std::string_view>::first);
    return row == ascend_features.end() ? Names{} : Names{std::string(row->second)};
  }
  if (property.ns == "x86_64" && property.feature == "level") return {"x86_64"};
  if (property.ns == "aarch64" && property.feature == "version") return {"aarch64"};
  if (const auto capability = avx10_capability(property)) return {cpu_fact_of(*capability)};
  if (property.ns == "axle") {
    if (Names names = facts_behind_axle(property); !names.empty()) return names;
  }
  const std::string text = wheel::render_property(property);
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.property == text) return {cpu_fact_of(row.id)};
  }
  return {};
}

bool are_entangled(std::string_view left, std::string_view right) {
  if (limits(left, right) || limits(right, left)) return true;
  // A Jetson is known by its GPU as well.
  return (left == "sm" && right == "arm_platform") || (left == "arm_platform" && right == "sm");
}

}  // namespace axle::resolver
