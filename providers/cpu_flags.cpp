#include "providers/cpu_flags.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace axle::providers {

using detect::Capability;
using detect::Presence;

namespace {

// In the spelling of the table.
std::string join_property(std::string_view ns, std::string_view feature, std::string_view value) {
  return std::string(ns) + " :: " + std::string(feature) + " :: " + std::string(value);
}

std::vector<std::string> names_of(std::span<const Capability> capabilities) {
  std::vector<std::string> names;
  for (const Capability each : capabilities)
    names.emplace_back(detect::plain_name(detect::row(each)));
  return names;
}

/// What the evidence in Cpu::sources means for programs.
struct Circumstance {
  std::string_view evidence;
  FactCode code;
};

constexpr Circumstance circumstances[] = {
    {"auxv", FactCode::not_allowed},
    {"xcr0", FactCode::registers_off},
    {"cpuinfo-without-flag", FactCode::withheld_by_name},
    {"osxsave", FactCode::registers_not_saved},
    {"arch_prctl", FactCode::not_handed_out},
    {"arch_prctl-refused", FactCode::handing_out_unknown},
    {"other-cores", FactCode::other_cores},
    {"auxv-any-version", FactCode::version_not_told},
    {"auxv-without-word", FactCode::kernel_too_old},
    {"hwprobe-without-key", FactCode::kernel_too_old},
    {"sysctl-without-name", FactCode::kernel_too_old},
};

std::string_view evidence_of(const detect::Cpu& cpu, Capability capability) {
  const auto source = cpu.sources.find(detect::row(capability).name);
  return source == cpu.sources.end() ? std::string_view() : source->second;
}

const Circumstance* find_circumstance(const detect::Cpu& cpu, Capability capability) {
  const std::string_view evidence = evidence_of(cpu, capability);
  const auto* found = std::ranges::find(circumstances, evidence, &Circumstance::evidence);
  return found == std::end(circumstances) ? nullptr : found;
}

/// The members of `affected` with the first one's evidence; all if it has none.
Fact about_withheld(const detect::Cpu& cpu, const std::vector<Capability>& affected,
                    FactCode without_evidence) {
  const Circumstance* const circumstance = find_circumstance(cpu, affected.front());
  std::vector<Capability> alike;
  std::ranges::copy_if(affected, std::back_inserter(alike), [&](Capability each) {
    return circumstance == nullptr || find_circumstance(cpu, each) == circumstance;
  });
  return {circumstance == nullptr ? without_evidence : circumstance->code,
          "CPU",
          names_of(alike),
          {},
          std::string(evidence_of(cpu, affected.front()))};
}

}  // namespace

std::optional<Capability> find_row(std::string_view ns, std::string_view feature,
                                   std::string_view value) {
  const std::string property = join_property(ns, feature, value);
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.property == property) return row.id;
  }
  return std::nullopt;
}

Features flags_present(const detect::Cpu& cpu, std::string_view ns,
                       std::span<const std::string_view> flags) {
  Features features;
  // Machines of which only the GPUs are known are asked for very often (resolver/classes).
  if (cpu.capabilities == detect::CapabilityFacts()) return features;
  for (const std::string_view flag : flags) {
    const auto capability = find_row(ns, flag, "on");
    if (capability && cpu.capabilities.has(*capability)) {
      features.push_back({std::string(flag), false, {"on"}});
    }
  }
  return features;
}

Features flags_known(std::span<const std::string_view> flags) {
  Features features;
  for (const std::string_view flag : flags) {
    features.push_back({std::string(flag), false, {"on"}});
  }
  return features;
}

Fact about_capabilities(const detect::Cpu& cpu, std::span<const Capability> needed) {
  std::vector<Capability> by_presence[4];
  for (const Capability capability : needed) {
    by_presence[static_cast<std::size_t>(cpu.capabilities.of(capability))].push_back(capability);
  }
  const auto those = [&](Presence presence) -> const std::vector<Capability>& {
    return by_presence[static_cast<std::size_t>(presence)];
  };
  if (const auto& absent = those(Presence::absent); !absent.empty()) {
    return {FactCode::cpu_lacks,
            "CPU",
            names_of(absent),
            {},
            std::string(evidence_of(cpu, absent.front()))};
  }
  if (const auto& blocked = those(Presence::blocked); !blocked.empty())
    return about_withheld(cpu, blocked, FactCode::cpu_withheld);
  if (const auto& unknown = those(Presence::unknown); !unknown.empty())
    return about_withheld(cpu, unknown, FactCode::cpu_unknown);
  return {FactCode::cpu_has, "CPU", names_of(needed), names_of(those(Presence::present))};
}

Facts withheld_capabilities(const detect::Cpu& cpu) {
  Facts facts;
  for (const Circumstance& each : circumstances) {
    if (each.code == FactCode::kernel_too_old) continue;
    std::vector<Capability> affected;
    for (const detect::CapabilityRow& row : detect::capabilities()) {
      const Presence presence = cpu.capabilities.of(row.id);
      const bool open = presence == Presence::blocked || presence == Presence::unknown;
      if (open && find_circumstance(cpu, row.id) == &each) affected.push_back(row.id);
    }
    if (!affected.empty()) facts.push_back(about_withheld(cpu, affected, each.code));
  }
  return facts;
}

Fact about_flag(const detect::Cpu& cpu, detect::Arch arch, std::string_view ns,
                std::string_view feature, std::string_view value) {
  const auto capability = find_row(ns, feature, value);
  if (!capability) return unknown_property(ns, feature, value);
  if (cpu.arch != arch) return other_architecture(cpu, arch);
  return about_capabilities(cpu, std::span(&*capability, 1));
}

Fact other_architecture(const detect::Cpu& cpu, detect::Arch wanted) {
  const std::string own = cpu.machine.empty() || cpu.arch != detect::Arch::other
                              ? std::string(detect::render_arch(cpu.arch))
                              : cpu.machine;
  return {FactCode::other_architecture, "CPU", {std::string(detect::render_arch(wanted))}, {own}};
}

Fact arm_version_held(std::string_view held, std::string_view wanted) {
  const std::string title = "Armv";
  return {FactCode::cpu_version, "CPU", {title + std::string(wanted)}, {title + std::string(held)}};
}

Fact part_of(std::string_view kind, std::string_view value) {
  return {FactCode::part_of, std::string(kind) + " " + std::string(value)};
}

Fact unknown_property(std::string_view ns, std::string_view feature, std::string_view value) {
  return {FactCode::unknown_property, std::string(ns), {join_property(ns, feature, value)}};
}

}  // namespace axle::providers
