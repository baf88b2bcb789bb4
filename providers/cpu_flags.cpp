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
  std::vector<std::string_view> by_presence[4];
  for (const Capability capability : needed) {
    const auto presence = static_cast<std::size_t>(cpu.capabilities.of(capability));
    by_presence[presence].push_back(detect::plain_name(detect::row(capability)));
  }
  const auto names = [&](Presence presence) -> const std::vector<std::string_view>& {
    return by_presence[static_cast<std::size_t>(presence)];
  };
  if (const auto& absent = names(Presence::absent); !absent.empty()) {
    return "the CPU lacks " + join_names(absent);
  }
  if (const auto& blocked = names(Presence::blocked); !blocked.empty()) {
    return "the CPU has " + join_names(blocked) + ", but the kernel withholds " +
           (blocked.size() == 1 ? "it" : "them");
  }
  if (const auto& unknown = names(Presence::unknown); !unknown.empty()) {
    return "it is not known whether the CPU has " + join_names(unknown);
  }
  return "the CPU has " + join_names(names(Presence::present));
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
