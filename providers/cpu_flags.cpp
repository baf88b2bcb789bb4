#include "providers/cpu_flags.h"

#include <cstddef>

namespace axle::providers {

using detect::Capability;
using detect::Presence;

namespace {

// As the table spells it.
std::string join_property(std::string_view ns, std::string_view feature, std::string_view value) {
  return std::string(ns) + " :: " + std::string(feature) + " :: " + std::string(value);
}

std::string join_names(const std::vector<std::string_view>& names) {
  constexpr std::size_t shown = 4;
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < shown; ++i) {
    const bool last = i + 1 == names.size();
    if (i > 0) text += last ? " and " : ", ";
    text += names[i];
  }
  if (names.size() > shown) {
    text += " and " + std::to_string(names.size() - shown) + " more";
  }
  return text;
}

// Why a program cannot count on a capability, and what to do about it, by the evidence in
// Cpu::sources; the names stand between the two parts.
struct Circumstance {
  std::string_view evidence;
  std::string_view before;
  std::string_view after;
};

constexpr std::string_view too_old = "the kernel is too old to tell whether the CPU has ";

constexpr Circumstance circumstances[] = {
    {"auxv", "the CPU has ", ", but the kernel does not allow it (Linux 5.9 or newer does)"},
    {"xcr0", "the CPU has ",
     ", but the kernel does not switch on the registers (an old kernel, a hypervisor, or booted "
     "with noxsave or clearcpuid)"},
    {"cpuinfo-without-flag", "the CPU has ",
     ", but the kernel withholds it, for example because of an erratum of this processor"},
    {"osxsave", "the CPU has ",
     ", but the kernel saves no extended registers (booted with noxsave?)"},
    {"arch_prctl", "the CPU has ",
     ", but the kernel does not hand it out (Linux 5.16 or newer does)"},
    {"arch_prctl-refused", "the CPU has ",
     ", but whether the kernel hands it out is not known: arch_prctl is refused (a seccomp filter "
     "of the container?)"},
    {"other-cores", "some of the CPU's cores lack ", ""},
    {"auxv-any-version", "the kernel tells of ",
     ", but not of which version, and vectors are switched off for this process (Linux 6.4 or "
     "newer "
     "tells)"},
    {"auxv-without-word", too_old, ""},
    {"hwprobe-without-key", too_old, ""},
    {"sysctl-without-name", too_old, ""},
};

const Circumstance* find_circumstance(const detect::Cpu& cpu, Capability capability) {
  const auto source = cpu.sources.find(detect::row(capability).name);
  if (source == cpu.sources.end()) return nullptr;
  for (const Circumstance& each : circumstances) {
    if (each.evidence == source->second) return &each;
  }
  return nullptr;
}

// The sentence for those of `affected` that have the first one's evidence; empty where it has none.
std::string describe_circumstance(const detect::Cpu& cpu, const std::vector<Capability>& affected) {
  const Circumstance* const circumstance = find_circumstance(cpu, affected.front());
  if (circumstance == nullptr) return {};
  std::vector<std::string_view> names;
  for (const Capability each : affected) {
    if (find_circumstance(cpu, each) != circumstance) continue;
    names.push_back(detect::plain_name(detect::row(each)));
  }
  return std::string(circumstance->before) + join_names(names) + std::string(circumstance->after);
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

std::string describe_capabilities(const detect::Cpu& cpu, std::span<const Capability> needed) {
  std::vector<Capability> by_presence[4];
  for (const Capability capability : needed) {
    by_presence[static_cast<std::size_t>(cpu.capabilities.of(capability))].push_back(capability);
  }
  const auto those = [&](Presence presence) -> const std::vector<Capability>& {
    return by_presence[static_cast<std::size_t>(presence)];
  };
  const auto names = [&](Presence presence) {
    std::vector<std::string_view> words;
    for (const Capability each : those(presence)) {
      words.push_back(detect::plain_name(detect::row(each)));
    }
    return join_names(words);
  };
  if (!those(Presence::absent).empty()) return "the CPU lacks " + names(Presence::absent);
  for (const Presence presence : {Presence::blocked, Presence::unknown}) {
    const auto& affected = those(presence);
    if (affected.empty()) continue;
    if (std::string text = describe_circumstance(cpu, affected); !text.empty()) return text;
    if (presence == Presence::unknown) {
      return "it is not known whether the CPU has " + names(presence);
    }
    return "the CPU has " + names(presence) + ", but the kernel withholds " +
           (affected.size() == 1 ? "it" : "them");
  }
  return "the CPU has " + names(Presence::present);
}

std::vector<std::string> describe_withheld(const detect::Cpu& cpu) {
  std::vector<std::string> sentences;
  for (const Circumstance& each : circumstances) {
    if (each.before == too_old) continue;
    std::vector<Capability> affected;
    for (const detect::CapabilityRow& row : detect::capabilities()) {
      const Presence presence = cpu.capabilities.of(row.id);
      const bool open = presence == Presence::blocked || presence == Presence::unknown;
      if (open && find_circumstance(cpu, row.id) == &each) affected.push_back(row.id);
    }
    if (!affected.empty()) sentences.push_back(describe_circumstance(cpu, affected));
  }
  return sentences;
}

std::string describe_flag(const detect::Cpu& cpu, detect::Arch arch, std::string_view ns,
                          std::string_view feature, std::string_view value) {
  const auto capability = find_row(ns, feature, value);
  if (!capability) return describe_unheard(ns, feature, value);
  if (std::string other = describe_other_arch(cpu, arch); !other.empty()) return other;
  return describe_capabilities(cpu, std::span(&*capability, 1));
}

std::string describe_other_arch(const detect::Cpu& cpu, detect::Arch wanted) {
  if (cpu.arch == wanted) return {};
  const std::string own = cpu.machine.empty() || cpu.arch != detect::Arch::other
                              ? std::string(detect::render_arch(cpu.arch))
                              : cpu.machine;
  return "the CPU is " + own + ", not " + std::string(detect::render_arch(wanted));
}

std::string describe_unheard(std::string_view ns, std::string_view feature,
                             std::string_view value) {
  return "the provider of " + std::string(ns) + " knows no property " +
         join_property(ns, feature, value);
}

}  // namespace axle::providers
