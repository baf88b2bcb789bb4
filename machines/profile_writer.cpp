#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "detect/probe.h"
#include "machines/profile.h"
#include "machines/profile_recording.h"
#include "machines/profile_schema.h"

namespace axle::machines {

using detect::CapabilityRow;
using detect::Presence;
using Json = nlohmann::ordered_json;

namespace {

// A profile leaves out what is unknown or ordinary; `detect --json` shows every key.
enum class Detail { profile, facts };

class Section {
 public:
  explicit Section(Detail detail) : detail_(detail) {}

  void text(const char* key, std::string_view value) {
    if (!value.empty()) {
      json_[key] = value;
    } else if (detail_ == Detail::facts) {
      json_[key] = nullptr;
    }
  }
  template <class Number>
  void number(const char* key, const std::optional<Number>& value) {
    if (value) {
      json_[key] = *value;
    } else if (detail_ == Detail::facts) {
      json_[key] = nullptr;
    }
  }
  void flag(const char* key, bool value) {
    if (value || detail_ == Detail::facts) json_[key] = value;
  }
  void presence(const char* key, Presence value) {
    if (value != Presence::unknown || detail_ == Detail::facts) {
      json_[key] = detect::render_presence(value);
    }
  }
  void part(const char* key, Json value) {
    if (!value.empty() || detail_ == Detail::facts) json_[key] = std::move(value);
  }
  [[nodiscard]] Json take() { return std::move(json_); }

 private:
  Detail detail_;
  Json json_ = Json::object();
};

// By name; unknown ones are left out of profiles, and of other architectures' everywhere, since
// there are as many capabilities as the table has rows.
Json render_capabilities(const detect::Cpu& cpu, Detail detail) {
  std::vector<std::pair<std::string_view, Presence>> known;
  for (const CapabilityRow& row : detect::capabilities()) {
    const Presence presence = cpu.capabilities.of(row.id);
    const bool told = detail == Detail::facts && row.arch == cpu.arch;
    if (told || presence != Presence::unknown) known.emplace_back(row.name, presence);
  }
  std::ranges::sort(known);
  Json json = Json::object();
  for (const auto& [name, presence] : known) json[name] = detect::render_presence(presence);
  return json;
}

// "v3"; empty where there is none.
std::string render_level(const detect::Cpu& cpu) {
  const unsigned level = detect::highest_x86_64_level(cpu.capabilities);
  return level == 0 ? std::string() : "v" + std::to_string(level);
}

// AMX is three questions: has the CPU got it, does the kernel hand it out, may this process use it
// already (a yes to the second is enough: programs ask for it).
Json render_amx(const detect::Cpu& cpu) {
  if (cpu.arch != detect::Arch::x86_64) return {};
  const Presence tiles = cpu.capabilities.of(detect::Capability::amx_tile);
  const auto evidence = cpu.sources.find("amx_tile");
  const bool refused = tiles == Presence::unknown && evidence != cpu.sources.end();
  const bool in_cpu = tiles == Presence::present || tiles == Presence::blocked || refused;
  const auto permitted = !cpu.amx_permitted   ? Presence::unknown
                         : *cpu.amx_permitted ? Presence::present
                                              : Presence::absent;
  Json json = Json::object();
  json["cpu"] = detect::render_presence(in_cpu ? Presence::present : tiles);
  json["os"] = detect::render_presence(tiles == Presence::absent ? Presence::unknown : tiles);
  json["permitted"] = detect::render_presence(permitted);
  return json;
}

Json render_amx_tiles(const std::optional<detect::AmxTiles>& tiles) {
  if (!tiles) return {};
  Json json = Json::object();
  for (const auto& [key, member] : amx_tile_members) json[key] = (*tiles).*member;
  return json;
}

Json render_sources(const detect::Sources& sources) {
  Json json = Json::object();
  for (const auto& [fact, source] : sources) json[fact] = source;
  return json;
}

Json render_cpu(const detect::Cpu& cpu, Detail detail) {
  Section section(detail);
  if (cpu.arch != detect::Arch::other || detail == Detail::facts) {
    section.text("arch", detect::render_arch(cpu.arch));
  }
  section.text("machine", cpu.machine);
  section.text("vendor", cpu.vendor);
  section.text("brand", cpu.brand);
  section.text("model", cpu.model);
  section.flag("hybrid", cpu.hybrid);
  section.number("logical_cpus",
                 cpu.logical_cpus == 0 ? std::nullopt : std::optional(cpu.logical_cpus));
  if (detail == Detail::facts) section.text("level", render_level(cpu));
  section.number("sve_vector_bytes", cpu.sve_vector_bytes);
  section.number("sme_vector_bytes", cpu.sme_vector_bytes);
  section.text("hypervisor", cpu.hypervisor);
  if (detail == Detail::facts) section.part("amx", render_amx(cpu));
  section.number("amx_permitted", cpu.amx_permitted);
  section.part("amx_tiles", render_amx_tiles(cpu.amx_tiles));
  section.number("ace_version", cpu.ace_version);
  section.part("capabilities", render_capabilities(cpu, detail));
  section.part("sources", render_sources(cpu.sources));
  return section.take();
}

Json render_gpu(const detect::Gpu& gpu, Detail detail) {
  Section section(detail);
  section.text("vendor", detect::render_vendor(gpu.vendor));
  section.text("name", gpu.name);
  section.text("pci_address", gpu.pci_address);
  section.text("pci_id", gpu.pci_id);
  section.text("kernel_driver", gpu.kernel_driver);
  section.text("arch", gpu.arch);
  section.number("memory_bytes", gpu.memory_bytes);
  section.flag("integrated", gpu.integrated);
  section.flag("mig", gpu.mig);
  section.flag("masked", gpu.masked);
  section.presence("usable", gpu.usable);
  section.text("reason_code", gpu.reason_code);
  section.text("reason", gpu.reason);
  section.part("sources", render_sources(gpu.sources));
  return section.take();
}

Json render_driver(const detect::Driver& driver, Detail detail) {
  Section section(detail);
  section.text("kernel_version", driver.kernel_version);
  section.text("library_version", driver.library_version);
  section.text("api_version", driver.api_version);
  section.text("api_source", driver.api_source);
  section.text("compat_version", driver.compat_version);
  section.text("compat_library", driver.compat_library);
  section.presence("usable", driver.usable);
  section.text("reason_code", driver.reason_code);
  section.text("reason", driver.reason);
  section.part("sources", render_sources(driver.sources));
  return section.take();
}

Json render_npu(const detect::Npu& npu, Detail detail) {
  Section section(detail);
  section.text("kind", detect::render_npu_kind(npu.kind));
  section.text("name", npu.name);
  section.text("pci_address", npu.pci_address);
  section.text("type", npu.type);
  section.text("driver_version", npu.driver_version);
  section.text("toolkit_version", npu.toolkit_version);
  section.presence("usable", npu.usable);
  section.text("reason_code", npu.reason_code);
  section.text("reason", npu.reason);
  section.part("sources", render_sources(npu.sources));
  return section.take();
}

Json render_os(const detect::Os& os, Detail detail) {
  Section section(detail);
  section.text("system", os.system);
  section.text("kernel", os.kernel);
  section.text("name", os.name);
  section.text("container", os.container);
  section.flag("wsl", os.wsl);
  section.text("tegra_release", os.tegra_release);
  section.part("sources", render_sources(os.sources));
  return section.take();
}

Json render_libc(const detect::Libc& libc, Detail detail) {
  Section section(detail);
  section.text("family", libc.family);
  const bool known = libc.major != 0 || libc.minor != 0;
  section.text("version", known ? std::to_string(libc.major) + "." + std::to_string(libc.minor)
                                : std::string());
  section.part("sources", render_sources(libc.sources));
  return section.take();
}

Json render_problem(const detect::Problem& problem, Detail detail) {
  Section section(detail);
  section.text("code", problem.code);
  section.text("message", problem.message);
  section.text("hint", problem.hint);
  return section.take();
}

template <class Item, class Render>
Json render_all(const std::vector<Item>& items, Render render, Detail detail) {
  Json json = Json::array();
  for (const Item& item : items) json.push_back(render(item, detail));
  return json;
}

// One entry a vendor, under its word.
Json render_drivers(const std::vector<detect::Driver>& drivers, Detail detail) {
  Json json = Json::object();
  for (const detect::Driver& driver : drivers) {
    json[std::string(detect::render_vendor(driver.vendor))] = render_driver(driver, detail);
  }
  return json;
}

void add_machine(Section& section, const detect::Machine& machine, Detail detail) {
  section.part("cpu", render_cpu(machine.cpu, detail));
  section.part("gpus", render_all(machine.gpus, render_gpu, detail));
  section.part("npus", render_all(machine.npus, render_npu, detail));
  section.part("drivers", render_drivers(machine.drivers, detail));
  section.part("os", render_os(machine.os, detail));
  section.part("libc", render_libc(machine.libc, detail));
  section.part("problems", render_all(machine.problems, render_problem, detail));
}

// Bytes that are not UTF-8 (a driver's idea of a name) become U+FFFD instead of an exception.
std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string render_profile(const Profile& profile) {
  Section section(Detail::profile);
  // Facts of schema 1 need not say where they are from, and stay so.
  const bool old = !profile.recording && explain_origin(profile.origin).first != nullptr;
  section.number("schema_version", std::optional(old ? 1U : profile_schema_version));
  Section origin(Detail::profile);
  origin.text("kind", profile.origin.kind);
  origin.text("source", profile.origin.source);
  origin.text("date", profile.origin.date);
  section.part("origin", origin.take());
  if (profile.recording) {
    section.part("recording", render_recording(*profile.recording));
  } else {
    add_machine(section, profile.machine, Detail::profile);
  }
  return dump(section.take());
}

detect::Machine replay_profile(const Profile& profile) {
  if (!profile.recording) return profile.machine;
  detect::ReplayHost host(*profile.recording);
  return detect::probe_machine(host);
}

std::string render_facts(const detect::Machine& machine) {
  Section section(Detail::facts);
  add_machine(section, machine, Detail::facts);
  return dump(section.take());
}

}  // namespace axle::machines
