#include "resolver/browse/machines_of_pages.h"

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "detect/os/macos.h"
#include "machines/description.h"
#include "machines/selection.h"
#include "providers/provider.h"
#include "resolver/choice/provider_algorithm.h"
#include "wheel/system_platform.h"
#include "wheel/variant/abi_dependency.h"

namespace axle::resolver {
namespace {

using nlohmann::ordered_json;

std::string page_json(const ordered_json& value) {
  return value.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
}

ordered_json features_json(const providers::Features& features) {
  ordered_json rows = ordered_json::array();
  for (const providers::Feature& one : features)
    rows.push_back(ordered_json::array({one.name, one.values}));
  return rows;
}

/// Lists that many machines have are told once.
class ToldLists {
 public:
  /// {namespace: number of a list} of everything that a machine supports.
  ordered_json numbers_for(const detect::Machine& machine) {
    ordered_json numbers = ordered_json::object();
    for (const providers::Provider& provider : providers::builtin_providers()) {
      const providers::Features features = provider.supported(machine, {});
      if (!features.empty()) numbers[std::string(provider.ns)] = number_of(features);
    }
    return numbers;
  }
  [[nodiscard]] const ordered_json& all() const { return lists_; }

 private:
  std::size_t number_of(const providers::Features& features) {
    ordered_json list = features_json(features);
    const auto [at, is_new] = numbers_.try_emplace(list.dump(), lists_.size());
    if (is_new) lists_.push_back(std::move(list));
    return at->second;
  }

  std::map<std::string, std::size_t> numbers_;
  ordered_json lists_ = ordered_json::array();
};

std::string architecture_name(const detect::Cpu& cpu) {
  const bool named = cpu.arch == detect::Arch::other && !cpu.machine.empty();
  return named ? cpu.machine : std::string(detect::render_arch(cpu.arch));
}

std::string about(const detect::Machine& machine) {
  const std::string cpu = machines::describe_cpu(machine.cpu);
  const std::string devices = machines::describe_devices(machine);
  return cpu + (cpu.empty() || devices.empty() ? "" : "; ") + devices;
}

ordered_json machine_json(const machines::NamedMachine& named, ToldLists& lists) {
  const detect::Machine& machine = named.machine;
  ordered_json told = {{"name", named.name},
                       {"about", about(machine)},
                       {"kind", named.origin.kind.empty() ? "gpu" : "machine"},
                       {"arch", architecture_name(machine.cpu)},
                       {"system", machine.os.system},
                       {"libc", {machine.libc.family, machine.libc.major, machine.libc.minor}},
                       {"lists", lists.numbers_for(machine)}};
  if (const auto macos = detect::macos_version(machine.os))
    told["macos"] = {macos->first, macos->second};
  const auto views = providers::device_views(machine, {});
  for (const detect::Machine& view : views) told["views"].push_back(lists.numbers_for(view));
  return told;
}

struct Place {
  std::string_view system;
  std::string_view architecture;
};

/// Those for which wheels are made, and markers are written.
constexpr std::array<Place, 9> places = {{{wheel::linux_system, "x86_64"},
                                          {wheel::linux_system, "aarch64"},
                                          {wheel::linux_system, "ppc64le"},
                                          {wheel::linux_system, "riscv64"},
                                          {wheel::linux_system, "s390x"},
                                          {wheel::windows_system, "x86_64"},
                                          {wheel::windows_system, "aarch64"},
                                          {wheel::mac_system, "x86_64"},
                                          {wheel::mac_system, "aarch64"}}};

/// As for --for, of an interpreter that is usual.
wheel::MarkerEnvironment markers_on(const Place& place) {
  wheel::MarkerEnvironment markers{
      {{"platform_release", ""}, {"platform_version", ""}, {"extra", ""}}, {}};
  wheel::put_cpython_markers(markers, "3.12.0");
  wheel::put_system_markers(markers, place.system, place.architecture);
  return markers;
}

ordered_json origin_json(const plan::NamespaceOrigin& origin, const SupportedProperties& lists) {
  switch (origin.origin) {
    case plan::ListOrigin::builtin:
      return "machine";
    case plan::ListOrigin::static_list: {
      const auto own = lists.find(origin.ns);
      return {{"lists", own == lists.end() ? ordered_json::array() : features_json(own->second)}};
    }
    default:
      return {{"why", origin.detail}};
  }
}

ordered_json origins_on(const Place& place, const wheel::VariantMetadata& metadata) {
  CollectedReport untold;
  // Which machine it is does not matter: of one nothing but the origin is told.
  const SupportedLists found = supported_lists(metadata, {}, {}, markers_on(place), untold);
  ordered_json origins = ordered_json::object();
  for (const plan::NamespaceOrigin& origin : found.origins) {
    if (wheel::is_abi_namespace(metadata, origin.ns)) {
      origins[origin.ns] = "versions";
    } else {
      origins[origin.ns] = origin_json(origin, found.lists);
    }
  }
  return origins;
}

class MachinesOfPages final : public index::PageMachines {
 public:
  [[nodiscard]] std::string machines_json() const override {
    ToldLists lists;
    ordered_json told = ordered_json::array();
    CollectedReport untold;
    for (const std::string& name : machines::shipped_names()) {
      const auto found = machines::select_machines(name, untold);
      if (!found) continue;  // those that are shipped are read by tests
      for (const machines::NamedMachine& machine : *found)
        told.push_back(machine_json(machine, lists));
    }
    return page_json({{"lists", lists.all()}, {"machines", std::move(told)}});
  }

  [[nodiscard]] std::string origins_json(const wheel::VariantMetadata& metadata) const override {
    ordered_json origins;
    for (const Place& place : places) {
      ordered_json here = origins_on(place, metadata);
      if (origins.empty()) {
        origins["any"] = std::move(here);
      } else if (here != origins["any"]) {
        const bool on_linux = place.system == wheel::linux_system;
        origins[on_linux ? std::string(place.architecture)
                         : fmt::format("{} {}", place.system, place.architecture)] =
            std::move(here);
      }
    }
    return page_json(origins);
  }
};

}  // namespace

std::shared_ptr<const index::PageMachines> make_machines_of_pages() {
  return std::make_shared<MachinesOfPages>();
}

}  // namespace axle::resolver
