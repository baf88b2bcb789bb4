#include "resolver/lint/machine_corpus.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "detect/os/macos.h"
#include "foundation/text/ascii.h"
#include "resolver/choice/provider_algorithm.h"
#include "wheel/system_platform.h"
#include "wheel/tag.h"

namespace axle::resolver {
namespace {

constexpr unsigned a_python = 12;  ///< of the tags only platforms are looked at

std::string architecture_name(const detect::Cpu& cpu) {
  const bool named = cpu.arch == detect::Arch::other && !cpu.machine.empty();
  return named ? cpu.machine : std::string(detect::render_arch(cpu.arch));
}

wheel::MarkerEnvironment markers_of(const detect::Machine& machine, const std::string& arch) {
  wheel::MarkerEnvironment markers{{{"platform_release", machine.os.kernel}, {"extra", ""}}, {}};
  wheel::put_cpython_markers(markers, "3.12.0");
  wheel::put_system_markers(markers, machine.os.system, arch);
  return markers;
}

/// Empty: those of Linux.
std::vector<std::string> other_platforms(const detect::Machine& machine, const std::string& arch) {
  if (machine.os.system == wheel::windows_system) return {wheel::windows_platform(arch)};
  if (machine.os.system != wheel::mac_system) return {};
  const auto version = detect::macos_version(machine.os);
  if (!version) return {"any"};
  return wheel::mac_platforms(*version, wheel::machine_name(wheel::mac_system, arch));
}

/// What the lists of a document depend on beside the machine.
std::string signature(const wheel::VariantMetadata& metadata) {
  std::string text = metadata.schema_version;
  for (const std::string& ns : metadata.namespaces) text += '|' + ns;
  for (const auto& [ns, provider] : metadata.providers) {
    text += fmt::format("\n{}{}{}|{}|{}|{}", ns, provider.optional ? "?" : "",
                        provider.install_time ? "" : "!", provider.plugin_api, provider.builtin,
                        provider.enable_if);
    for (const std::string& one : provider.requires_) text += '|' + one;
    if (!provider.static_properties) continue;
    for (const auto& [feature, values] : *provider.static_properties)
      text += fmt::format("|{}={}", feature, fmt::join(values, ","));
  }
  for (const auto& [ns, features] : metadata.property_priorities) {
    for (const auto& [feature, values] : features)
      text += fmt::format("\n{}.{}={}", ns, feature, fmt::join(values, ","));
  }
  std::set<std::string> used;
  for (const auto& [label, properties] : metadata.variants) {
    for (const wheel::Property& property : properties) used.insert(property.ns);
  }
  return text + fmt::format("\n{}", fmt::join(used, ","));
}

}  // namespace

MachineCorpus::MachineCorpus(std::vector<machines::NamedMachine> machines)
    : machines_(std::move(machines)) {
  std::map<std::string, std::size_t> known;
  for (const machines::NamedMachine& named : machines_) {
    const detect::Machine& machine = named.machine;
    const std::string arch = architecture_name(machine.cpu);
    const std::vector<std::string> others = other_platforms(machine, arch);
    const std::string key =
        fmt::format("{}|{}|{}|{}|{}", fmt::join(others, " "), arch, machine.libc.family,
                    machine.libc.major, machine.libc.minor);
    const auto [at, is_new] = known.try_emplace(key, platforms_.size());
    platform_of_.push_back(at->second);
    if (!is_new) continue;
    Platform platform;
    platform.architecture = arch;
    platform.markers = markers_of(machine, arch);
    platform.tags.insert("any");
    wheel::TagTarget target;
    target.python_minor = a_python;
    target.architecture = arch;
    target.libc_family = machine.libc.family;
    target.libc_major = machine.libc.major;
    target.libc_minor = machine.libc.minor;
    target.platforms = others;
    const wheel::SupportedTags supported = wheel::supported_tags(target);
    for (const wheel::Tag& tag : supported.best_first()) platform.tags.insert(tag.platform);
    platforms_.push_back(std::move(platform));
  }
}

bool MachineCorpus::fits(std::size_t machine, const std::vector<wheel::Tag>& tags) const {
  const Platform& platform = platforms_[platform_of_[machine]];
  return std::ranges::any_of(
      tags, [&](const wheel::Tag& tag) { return platform.tags.contains(tag.platform); });
}

const MachineCorpus::Lists& MachineCorpus::lists_for(const wheel::VariantMetadata& metadata) {
  const auto [at, is_new] = lists_.try_emplace(signature(metadata));
  Lists& lists = at->second;
  if (!is_new) return lists;
  // Plugins are not run: their namespaces are empty, as for whoever does not trust them.
  CollectedReport untold;
  for (std::size_t i = 0; i < machines_.size(); ++i) {
    SupportedProperties found =
        supported_lists(metadata, machines_[i].machine, {}, markers(i), untold).lists;
    const auto same = std::ranges::find(lists.distinct, found);
    lists.of_machine.push_back(static_cast<std::size_t>(same - lists.distinct.begin()));
    if (same == lists.distinct.end()) lists.distinct.push_back(std::move(found));
  }
  return lists;
}

std::vector<std::string> MachineCorpus::ranked(std::size_t machine,
                                               const wheel::VariantMetadata& metadata) {
  if (last_lists_ == nullptr || metadata != last_) {
    last_ = metadata;
    last_lists_ = &lists_for(metadata);
    last_ranked_.clear();
  }
  const std::size_t list = last_lists_->of_machine[machine];
  const auto [at, is_new] = last_ranked_.try_emplace(list);
  if (is_new) {
    for (RankedVariant& one : rank_variants(metadata, last_lists_->distinct[list]).ranked)
      at->second.push_back(std::move(one.label));
  }
  return at->second;
}

}  // namespace axle::resolver
