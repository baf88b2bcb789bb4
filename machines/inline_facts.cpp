#include "machines/inline_facts.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "detect/cpu/aarch64_versions.h"
#include "detect/nvidia/cuda_drivers.h"
#include "machines/gpu_models.h"
#include "machines/nearest.h"
#include "machines/possible_facts.h"

namespace axle::machines {

using detect::Arch;
using detect::Capability;
using detect::Driver;
using detect::GpuVendor;
using detect::Machine;
using detect::Presence;

namespace {

std::vector<std::string_view> split(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find_first_of(separators);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::unexpected<Error> unknown(std::string_view what, std::string_view word,
                               const std::vector<std::string>& known) {
  return fail(ErrorKind::not_found, fmt::format("unknown {} \"{}\"", what, word),
              fmt::format("nearest known: {}", nearest_words(word, known)));
}

std::unexpected<Error> bad_value(std::string_view ns, std::string_view key, std::string_view value,
                                 std::string_view example) {
  return fail(ErrorKind::not_found, fmt::format("{}:{}={} says nothing", ns, key, value),
              fmt::format("write it like {}:{}", ns, example));
}

/// For a value that is well formed, but that no machine has; `nearest` as possible_facts.h gives
/// it.
std::unexpected<Error> impossible(std::string_view ns, std::string_view key, std::string_view value,
                                  std::string_view nearest) {
  return fail(ErrorKind::not_found, fmt::format("{}:{}={}: no machine has that", ns, key, value),
              fmt::format("nearest known: {}", nearest));
}

bool is_version(std::string_view text, std::size_t most_parts) {
  constexpr std::size_t longest_number = 6;
  const auto parts = split(text, ".");
  return parts.size() <= most_parts && std::ranges::all_of(parts, [](std::string_view part) {
           return !part.empty() && part.size() <= longest_number &&
                  std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; });
         });
}

// "90" and "9.0", "120" and "12.0" -> "9.0", "12.0": the last digit is the minor version.
std::optional<std::string> parse_compute_capability(std::string_view text) {
  std::string digits(text);
  if (const std::size_t dot = text.find('.'); dot != std::string_view::npos) {
    if (dot + 2 != text.size()) return std::nullopt;
    digits.erase(dot, 1);
  }
  if (digits.size() < 2 || digits.size() > 3 || digits[0] == '0' || !is_version(digits, 1)) {
    return std::nullopt;
  }
  return digits.substr(0, digits.size() - 1) + "." + digits.back();
}

bool is_gfx(std::string_view text) {
  return text.size() >= 6 && text.size() <= 10 && text.starts_with("gfx") &&
         std::ranges::all_of(text.substr(3), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

// The facts of one part, key -> value. A word without "=" in a GPU namespace is a model.
using Facts = std::map<std::string, std::string, std::less<>>;

Result<Facts> parse_pairs(std::string_view ns, std::string_view text,
                          const std::vector<std::string>& keys) {
  Facts facts;
  for (const std::string_view fact : split(text, ",")) {
    const std::size_t equals = fact.find('=');
    const bool bare = equals == std::string_view::npos;
    const std::string key(bare ? "gpu" : fact.substr(0, equals));
    const std::string value(bare ? fact : fact.substr(equals + 1));
    if (std::ranges::find(keys, key) == keys.end()) {
      return unknown(fmt::format("fact of {}", ns), bare ? fact : key, keys);
    }
    if (value.empty()) return bad_value(ns, key, value, key + "=VALUE");
    if (!facts.emplace(key, value).second) {
      return fail(ErrorKind::not_found, fmt::format("{}:{} states {} twice", ns, text, key));
    }
  }
  return facts;
}

const std::string* find_fact(const Facts& facts, std::string_view key) {
  const auto found = facts.find(key);
  return found == facts.end() ? nullptr : &found->second;
}

// A GPU of `vendor` by its model; null when the part names none.
Result<std::optional<detect::Gpu>> gpu_of_model(GpuVendor vendor, const Facts& facts) {
  const std::string* name = find_fact(facts, "gpu");
  if (name == nullptr) return std::nullopt;
  const GpuModel* model = find_gpu_model(*name);
  if (model != nullptr && model->vendor == vendor) return make_gpu(*model);
  if (const auto fact = architecture_fact(*name)) {
    return fail(ErrorKind::not_found,
                fmt::format("\"{}\" is an architecture, not the name of a GPU", *name),
                fmt::format("write it like {}", *fact));
  }
  std::vector<std::string> known;
  for (const GpuModel& candidate : gpu_models()) {
    if (candidate.vendor == vendor) known.emplace_back(candidate.name);
  }
  return unknown(fmt::format("{} GPU", detect::render_vendor(vendor)), *name, known);
}

// The GPU that a part names by model, by architecture (`key`, already checked and spelled), or
// both.
Result<void> add_gpu(Machine& machine, GpuVendor vendor, const Facts& facts,
                     const std::optional<std::string>& arch) {
  auto gpu = gpu_of_model(vendor, facts);
  if (!gpu) return std::unexpected(gpu.error());
  if (!*gpu && !arch) return {};
  detect::Gpu added = gpu->value_or(detect::Gpu{});
  added.vendor = vendor;
  added.usable = Presence::present;
  if (arch) added.arch = *arch;
  machine.gpus.push_back(std::move(added));
  return {};
}

Driver& stated_driver(Machine& machine, GpuVendor vendor) {
  const auto found = std::ranges::find(machine.drivers, vendor, &Driver::vendor);
  Driver& driver = found == machine.drivers.end() ? machine.drivers.emplace_back() : *found;
  driver = {};
  driver.vendor = vendor;
  driver.api_source = "stated";
  driver.usable = Presence::present;
  return driver;
}

/// Either may be null: it is not stated.
Result<void> check_driver(std::string_view ns, GpuVendor vendor, const std::string* driver,
                          std::string_view api_key, const std::string* api) {
  if (const auto nearest = driver == nullptr ? std::nullopt : nearest_driver(vendor, *driver))
    return impossible(ns, "driver", *driver, *nearest);
  if (const auto nearest = api == nullptr ? std::nullopt : nearest_api(vendor, *api))
    return impossible(ns, api_key, *api, *nearest);
  return {};
}

Result<void> add_nvidia(Machine& machine, std::string_view text) {
  const auto facts = parse_pairs("nvidia", text, {"cuda", "driver", "gpu", "sm"});
  if (!facts) return std::unexpected(facts.error());
  std::optional<std::string> arch;
  if (const std::string* sm = find_fact(*facts, "sm")) {
    arch = parse_compute_capability(*sm);
    if (!arch) return bad_value("nvidia", "sm", *sm, "sm=90");
    if (const auto nearest = nearest_arch(GpuVendor::nvidia, *arch))
      return impossible("nvidia", "sm", *sm, *nearest);
  }
  const std::string* version = find_fact(*facts, "driver");
  const std::string* cuda = find_fact(*facts, "cuda");
  if (version != nullptr && !is_version(*version, 4)) {
    return bad_value("nvidia", "driver", *version, "driver=570.26");
  }
  if (cuda != nullptr && (!is_version(*cuda, 2) || cuda->find('.') == std::string::npos)) {
    return bad_value("nvidia", "cuda", *cuda, "cuda=12.8");
  }
  if (auto ok = check_driver("nvidia", GpuVendor::nvidia, version, "cuda", cuda); !ok) return ok;
  if (auto added = add_gpu(machine, GpuVendor::nvidia, *facts, arch); !added) return added;
  if (version == nullptr && cuda == nullptr) return {};
  Driver& driver = stated_driver(machine, GpuVendor::nvidia);
  driver.kernel_version = version != nullptr ? *version : detect::first_driver_of_cuda(*cuda);
  driver.api_version = cuda != nullptr ? *cuda : detect::cuda_of_driver(*version);
  if (cuda == nullptr) driver.api_source = "driver-table";
  return {};
}

Result<void> add_amd(Machine& machine, std::string_view text) {
  const auto facts = parse_pairs("amd", text, {"driver", "gfx", "gpu", "rocm"});
  if (!facts) return std::unexpected(facts.error());
  std::optional<std::string> arch;
  if (const std::string* gfx = find_fact(*facts, "gfx")) {
    arch = gfx->starts_with("gfx") ? *gfx : "gfx" + *gfx;
    if (!is_gfx(*arch)) return bad_value("amd", "gfx", *gfx, "gfx=gfx942");
    if (const auto nearest = nearest_arch(GpuVendor::amd, *arch))
      return impossible("amd", "gfx", *gfx, *nearest);
  }
  const std::string* version = find_fact(*facts, "driver");
  const std::string* rocm = find_fact(*facts, "rocm");
  if (version != nullptr && !is_version(*version, 4)) {
    return bad_value("amd", "driver", *version, "driver=6.12.12");
  }
  if (rocm != nullptr && (!is_version(*rocm, 3) || rocm->find('.') == std::string::npos)) {
    return bad_value("amd", "rocm", *rocm, "rocm=6.4");
  }
  if (auto ok = check_driver("amd", GpuVendor::amd, version, "rocm", rocm); !ok) return ok;
  if (auto added = add_gpu(machine, GpuVendor::amd, *facts, arch); !added) return added;
  if (version == nullptr && rocm == nullptr) return {};
  Driver& driver = stated_driver(machine, GpuVendor::amd);
  if (version != nullptr) driver.kernel_version = *version;
  if (rocm != nullptr) driver.api_version = *rocm;
  return {};
}

Result<void> add_intel(Machine& machine, std::string_view text) {
  const auto facts = parse_pairs("intel", text, {"driver", "gpu", "ip"});
  if (!facts) return std::unexpected(facts.error());
  std::optional<std::string> arch;
  if (const std::string* ip = find_fact(*facts, "ip")) {
    if (!is_version(*ip, 3) || std::ranges::count(*ip, '.') != 2) {
      return bad_value("intel", "ip", *ip, "ip=20.1.0");
    }
    if (const auto nearest = nearest_arch(GpuVendor::intel, *ip))
      return impossible("intel", "ip", *ip, *nearest);
    arch = *ip;
  }
  if (auto added = add_gpu(machine, GpuVendor::intel, *facts, arch); !added) return added;
  if (const std::string* version = find_fact(*facts, "driver")) {
    stated_driver(machine, GpuVendor::intel).kernel_version = *version;
  }
  return {};
}

Result<void> state_arch(Machine& machine, Arch arch) {
  if (machine.cpu.arch == arch) return {};
  if (machine.cpu.arch != Arch::other || !machine.cpu.machine.empty()) {
    return fail(ErrorKind::not_found,
                fmt::format("the machine is {}, so it cannot be {} too",
                            detect::render_arch(machine.cpu.arch), detect::render_arch(arch)),
                "state facts of one architecture");
  }
  machine.cpu.arch = arch;
  machine.cpu.machine = detect::render_arch(arch);
  return {};
}

// The capabilities that a word of a CPU namespace stands for: a level, a version, or a flag.
std::vector<Capability> find_flags(Arch arch, std::string_view word) {
  std::vector<Capability> found;
  const bool level = word.size() == 2 && word[0] == 'v' && word[1] >= '1' && word[1] <= '4';
  if (arch == Arch::x86_64 && level) {
    for (unsigned below = 1; below <= static_cast<unsigned>(word[1] - '0'); ++below) {
      const auto own = detect::x86_64_level(below);
      found.insert(found.end(), own.begin(), own.end());
    }
    return found;
  }
  if (arch == Arch::aarch64) {
    for (const detect::Aarch64Version& version : detect::aarch64_versions) {
      found.insert(found.end(), version.adds.begin(), version.adds.end());
      if (version.name == word) return found;
    }
    // Versions beyond the published chain: all that they make mandatory.
    found = detect::aarch64_requirements(word, detect::VersionRule::strict);
    if (!found.empty()) return found;
  }
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.arch == arch && (row.name == word || detect::plain_name(row) == word)) {
      found.push_back(row.id);
    }
  }
  return found;
}

std::vector<std::string> known_flags(Arch arch) {
  std::vector<std::string> known;
  if (arch == Arch::x86_64) known = {"v1", "v2", "v3", "v4"};
  if (arch == Arch::aarch64) {
    for (const auto& version : detect::aarch64_architectures()) known.emplace_back(version.name);
  }
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.arch == arch) known.emplace_back(detect::plain_name(row));
  }
  return known;
}

Result<void> add_cpu(Machine& machine, Arch arch, std::string_view text) {
  if (auto stated = state_arch(machine, arch); !stated) return stated;
  for (const std::string_view word : split(text, ",+")) {
    const auto flags = find_flags(arch, word);
    if (flags.empty()) {
      return unknown(fmt::format("fact of {}", detect::render_arch(arch)), word, known_flags(arch));
    }
    for (const Capability flag : flags) machine.cpu.capabilities.set(flag, Presence::present);
  }
  return {};
}

Result<void> add_libc(Machine& machine, std::string_view text) {
  const auto facts = parse_pairs("libc", text, {"glibc", "musl"});
  if (!facts) return std::unexpected(facts.error());
  if (facts->size() != 1) {
    return fail(ErrorKind::not_found, fmt::format("libc:{} states two C libraries", text));
  }
  const auto& [family, version] = *facts->begin();
  const auto parts = split(version, ".");
  if (parts.size() != 2 || !is_version(version, 2)) {
    return bad_value("libc", family, version, "glibc=2.28");
  }
  detect::Libc libc{family, 0, 0};
  std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), libc.major);
  std::from_chars(parts[1].data(), parts[1].data() + parts[1].size(), libc.minor);
  if (const auto nearest = nearest_libc(family, libc.major, libc.minor))
    return impossible("libc", family, version, *nearest);
  machine.libc = libc;
  return {};
}

}  // namespace

std::optional<std::string> architecture_fact(std::string_view word) {
  const auto possible = [](GpuVendor vendor, std::string_view arch) {
    return !nearest_arch(vendor, arch).has_value();
  };
  if (is_gfx(word) && possible(GpuVendor::amd, word)) return fmt::format("amd:gfx={}", word);
  if (word.starts_with("sm")) {
    const std::string_view digits = word.substr(word.starts_with("sm_") ? 3 : 2);
    const auto arch = parse_compute_capability(digits);
    if (arch && possible(GpuVendor::nvidia, *arch)) return fmt::format("nvidia:sm={}", digits);
  }
  const bool ip = is_version(word, 3) && std::ranges::count(word, '.') == 2;
  if (ip && possible(GpuVendor::intel, word)) return fmt::format("intel:ip={}", word);
  return std::nullopt;
}

Result<void> add_facts(Machine& machine, std::string_view part) {
  const std::size_t colon = part.find(':');
  const std::string_view ns = part.substr(0, colon);
  const std::string_view text =
      colon == std::string_view::npos ? std::string_view() : part.substr(colon + 1);
  if (text.empty()) {
    if (ns == "x86_64") return state_arch(machine, Arch::x86_64);
    if (ns == "aarch64") return state_arch(machine, Arch::aarch64);
    return fail(ErrorKind::not_found, fmt::format("\"{}\" states no fact", part),
                "write facts as namespace:fact,fact, such as nvidia:sm=90,driver=570.26");
  }
  if (ns == "nvidia") return add_nvidia(machine, text);
  if (ns == "amd") return add_amd(machine, text);
  if (ns == "intel") return add_intel(machine, text);
  if (ns == "x86_64") return add_cpu(machine, Arch::x86_64, text);
  if (ns == "aarch64") return add_cpu(machine, Arch::aarch64, text);
  if (ns == "axle") {
    for (const Arch arch : {Arch::aarch64, Arch::ppc64le, Arch::riscv64, Arch::s390x}) {
      if (text.starts_with(detect::capability_prefix(arch))) return add_cpu(machine, arch, text);
    }
    return add_cpu(machine, Arch::x86_64, text);
  }
  if (ns == "libc") return add_libc(machine, text);
  return unknown("namespace of facts", ns,
                 {"nvidia", "amd", "intel", "x86_64", "aarch64", "axle", "libc"});
}

}  // namespace axle::machines
