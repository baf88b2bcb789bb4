#include "machines/inline_facts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "detect/cpu/aarch64_versions.h"
#include "detect/cpu/darwin.h"
#include "detect/gpu_vendors.h"
#include "detect/os/macos.h"
#include "machines/fact_words.h"
#include "machines/possible_facts.h"
#include "machines/stated/near_names.h"
#include "machines/stated/translated.h"
#include "machines/vendor_facts.h"

namespace axle::machines {

using detect::Arch;
using detect::Capability;
using detect::Machine;
using detect::Presence;

namespace {

Result<void> state_arch(Machine& machine, Arch arch) {
  if (machine.cpu.arch == arch) return {};
  // Of a processor that is known, not of a word: `windows;x86_64` says what its programs see.
  const bool described = !machine.cpu.brand.empty();
  if (described && can_translate(machine, detect::render_arch(arch))) {
    take_translated(machine, detect::render_arch(arch));
    return {};
  }
  if (machine.cpu.arch != Arch::other || !machine.cpu.machine.empty()) {
    return fail(ErrorKind::not_found,
                fmt::format("the machine is {}, so it cannot be {} too",
                            detect::render_arch(machine.cpu.arch), detect::render_arch(arch)),
                fmt::format("nearest that can be: {} or {}, each with features of its own",
                            detect::render_arch(machine.cpu.arch), detect::render_arch(arch)));
  }
  machine.cpu.arch = arch;
  machine.cpu.machine = detect::render_arch(arch);
  return {};
}

struct SystemRow {
  std::string_view word;
  std::string_view name;   ///< as Os::system
  std::string_view title;  ///< for sentences
};

constexpr std::array systems = {SystemRow{"linux", "Linux", "Linux"},
                                SystemRow{"windows", "Windows", "Windows"},
                                SystemRow{"macos", detect::darwin, "macOS"}};

std::string_view title_of(std::string_view system) {
  const auto* const row = std::ranges::find(systems, system, &SystemRow::name);
  return row == systems.end() ? system : row->title;
}

Result<void> state_system(Machine& machine, const SystemRow& row) {
  if (!machine.os.system.empty() && machine.os.system != row.name) {
    return fail(
        ErrorKind::not_found,
        fmt::format("the machine runs {}, so it cannot run {} too", title_of(machine.os.system),
                    row.title),
        fmt::format("nearest that can be: {} or {} alone", title_of(machine.os.system), row.title));
  }
  machine.os.system = row.name;
  if (row.word == "windows" && machine.os.name.empty()) machine.os.name = row.title;
  return {};
}

Result<void> state_windows(Machine& machine, std::string_view version) {
  constexpr std::array<std::string_view, 5> old = {"xp", "vista", "7", "8", "8.1"};
  if (std::ranges::find(old, version) != old.end()) {
    return fail(ErrorKind::not_found,
                fmt::format("windows:{}: no Python of today runs there", version),
                "nearest known: 10, 11");
  }
  if (version != "10" && version != "11") {
    return fail(ErrorKind::not_found,
                fmt::format("windows:{} is no version that is told apart here", version),
                "nearest known: 10, 11; Windows Server from 2016 on runs what 10 runs");
  }
  if (auto stated = state_system(machine, systems[1]); !stated) return stated;
  machine.os.name = fmt::format("Windows {}", version);
  return {};
}

/// "macos:15", "macos:14.6", and "macos:15.6.1" as sw_vers prints it: the last number decides
/// nothing.
Result<void> state_macos(Machine& machine, std::string_view text) {
  const auto parts = is_version(text, 3) ? parts_of(text) : std::nullopt;
  if (!parts) {
    return fail(ErrorKind::not_found, fmt::format("macos:{} is not valid", text),
                "write it like macos:15 or macos:14.6");
  }
  const detect::MacosVersion version{parts->front(), parts->size() > 1 ? (*parts)[1] : 0};
  auto nearest = nearest_macos(version);
  constexpr unsigned last_patch = 11;  // 10.4.11
  if (!nearest && parts->size() > 2 && parts->back() > last_patch)
    nearest = fmt::format("{}.{}", version.first, version.second);
  if (nearest) {
    return fail(ErrorKind::not_found, fmt::format("macos:{}: no machine has that", text),
                fmt::format("nearest known: {}", *nearest));
  }
  if (auto stated = state_system(machine, systems.back()); !stated) return stated;
  // Of a Mac that was updated, the kernel is another, too.
  if (detect::macos_version(machine.os) != version) machine.os.kernel.clear();
  machine.os.name = detect::macos_name(version);
  return {};
}

// The capabilities for a word of a CPU namespace: a level, a version, or a flag.
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
    // Versions beyond the published chain: all their mandatory features.
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
    if (word.empty()) return empty_fact(detect::render_arch(arch), text);
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

std::span<const std::string_view> bare_facts() {
  static constexpr std::array<std::string_view, 6> words = {"x86_64",  "aarch64", "linux",
                                                            "windows", "macos",   "mps"};
  return words;
}

std::optional<std::string> architecture_fact(std::string_view word) {
  for (const detect::GpuVendorRow& row : detect::gpu_vendors()) {
    if (auto fact = facts_of(row.vendor).state_architecture(word)) return fact;
  }
  return std::nullopt;
}

Result<void> add_facts(Machine& machine, std::string_view part) {
  const std::size_t colon = part.find(':');
  const std::string_view ns = own_architecture_word(part.substr(0, colon));
  std::string_view text =
      colon == std::string_view::npos ? std::string_view() : part.substr(colon + 1);
  if (text.ends_with(',')) text.remove_suffix(1);
  if (text.empty()) {
    if (ns == "x86_64") return state_arch(machine, Arch::x86_64);
    if (ns == "aarch64") return state_arch(machine, Arch::aarch64);
    if (ns == "mps") {
      machine.mps = detect::Mps{Presence::present, {}, {}, {{"usable", "stated"}}};
      return {};
    }
    const auto* const row = std::ranges::find(systems, ns, &SystemRow::word);
    if (row != systems.end()) return state_system(machine, *row);
    std::string hint = hint_for_name(part);
    if (!hint.empty()) hint += " ";
    hint += "write facts as namespace:fact,fact, such as nvidia:sm=90,driver=570.26";
    return fail(ErrorKind::not_found, fmt::format("\"{}\" is not a fact", part), std::move(hint));
  }
  if (const auto vendor = detect::parse_vendor(ns)) return facts_of(*vendor).add(machine, text);
  if (ns == "x86_64") return add_cpu(machine, Arch::x86_64, text);
  if (ns == "aarch64") return add_cpu(machine, Arch::aarch64, text);
  if (ns == "axle") {
    for (const Arch arch : {Arch::aarch64, Arch::ppc64le, Arch::riscv64, Arch::s390x}) {
      if (text.starts_with(detect::capability_prefix(arch))) return add_cpu(machine, arch, text);
    }
    return add_cpu(machine, Arch::x86_64, text);
  }
  if (ns == "libc") return add_libc(machine, text);
  if (ns == "macos") return state_macos(machine, text);
  if (ns == "windows") return state_windows(machine, text);
  if (std::string hint = hint_for_name(ns); !hint.empty()) {
    return fail(ErrorKind::not_found, fmt::format("unknown namespace of facts \"{}\"", ns),
                std::move(hint));
  }
  std::vector<std::string> known;
  for (const detect::GpuVendorRow& row : detect::gpu_vendors()) known.emplace_back(row.word);
  known.insert(known.end(), {"x86_64", "aarch64", "axle", "libc", "macos", "windows"});
  return unknown("namespace of facts", ns, known);
}

}  // namespace axle::machines
