#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "detect/probe.h"
#include "machines/profile.h"
#include "machines/profile_fields.h"
#include "machines/profile_recording.h"
#include "machines/profile_schema.h"

namespace axle::machines {

using detect::CapabilityRow;
using detect::Presence;
using Json = nlohmann::ordered_json;

namespace {

// A profile omits what is unknown or has its default; `detect --json` shows every key.
enum class Detail { profile, facts };

// By name; unknown ones are omitted from profiles, and those of other architectures everywhere,
// since there are as many capabilities as the table has rows.
Json render_capabilities(detect::Arch arch, const detect::CapabilityFacts& facts, Detail detail) {
  std::vector<std::pair<std::string_view, Presence>> known;
  for (const CapabilityRow& row : detect::capabilities()) {
    const Presence presence = facts.of(row.id);
    const bool told = detail == Detail::facts && row.arch == arch;
    if (told || presence != Presence::unknown) known.emplace_back(row.name, presence);
  }
  std::ranges::sort(known);
  Json json = Json::object();
  for (const auto& [name, presence] : known) json[name] = detect::render_presence(presence);
  return json;
}

// "v3"; empty if there is none.
std::string render_level(const detect::CapabilityFacts& facts) {
  const unsigned level = detect::highest_x86_64_level(facts);
  return level == 0 ? std::string() : "v" + std::to_string(level);
}

// AMX has three states: whether the CPU has it, whether the kernel grants it, whether this process
// may already use it (the second is sufficient: programs request it).
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

/// Writes the fields of one object (machines/profile_fields.h).
class FieldWriter {
 public:
  explicit FieldWriter(Detail detail) : detail_(detail) {}

  void text(const char* key, std::string_view value) { put(key, value, !value.empty()); }
  template <class Number>
  void number(const char* key, const std::optional<Number>& value, std::uint64_t /*largest*/) {
    put(key, value.value_or(0), value.has_value());
  }
  void count(const char* key, unsigned value, std::uint64_t /*largest*/ = 0) {
    put(key, value, value != 0);
  }
  void flag(const char* key, bool value) {
    if (value || detail_ == Detail::facts) json_[key] = value;
  }
  void flag(const char* key, const std::optional<bool>& value) {
    put(key, value.value_or(false), value.has_value());
  }
  void presence(const char* key, Presence value) {
    if (value != Presence::unknown || detail_ == Detail::facts) {
      json_[key] = detect::render_presence(value);
    }
  }
  template <class Enum, std::size_t count>
  void word(const char* key, Enum value, const Words<Enum, count>& words) {
    const bool taken_unsaid = !words.required && value == words.values.back();
    if (!taken_unsaid || detail_ == Detail::facts) json_[key] = words.render(value);
  }
  void level(const char* key, const detect::CapabilityFacts& facts) {
    if (detail_ == Detail::facts) text(key, render_level(facts));
  }
  void amx(const char* key, const detect::Cpu& cpu) {
    if (detail_ == Detail::facts) json_[key] = render_amx(cpu);
  }
  void capabilities(const char* key, detect::Arch arch, const detect::CapabilityFacts& facts) {
    member(key, render_capabilities(arch, facts, detail_));
  }
  void sources(const char* key, const detect::Sources& sources) {
    Json json = Json::object();
    for (const auto& [fact, source] : sources) json[fact] = source;
    member(key, std::move(json));
  }
  void version(const char* key, unsigned major, unsigned minor) {
    const bool known = major != 0 || minor != 0;
    text(key, known ? std::to_string(major) + "." + std::to_string(minor) : std::string());
  }
  template <class Type>
  void part(const char* key, const Type& value) {
    member(key, write(value));
  }
  template <class Type>
  void part(const char* key, const std::optional<Type>& value) {
    member(key, value ? write(*value) : Json());
  }
  template <class Type>
  void each(const char* key, const std::vector<Type>& values) {
    Json json = Json::array();
    for (const Type& value : values) json.push_back(write(value));
    member(key, std::move(json));
  }
  /// One under each vendor's word.
  void drivers(const char* key, const std::vector<detect::Driver>& drivers) {
    Json json = Json::object();
    for (const detect::Driver& driver : drivers) {
      json[std::string(detect::render_vendor(driver.vendor))] = write(driver);
    }
    member(key, std::move(json));
  }
  /// Omitted from profiles if empty.
  void member(const char* key, Json value) {
    if (!value.empty() || detail_ == Detail::facts) json_[key] = std::move(value);
  }
  [[nodiscard]] Json take() { return std::move(json_); }

 private:
  template <class Value>
  void put(const char* key, const Value& value, bool known) {
    if (known) {
      json_[key] = value;
    } else if (detail_ == Detail::facts) {
      json_[key] = nullptr;
    }
  }
  template <class Type>
  [[nodiscard]] Json write(const Type& value) const {
    FieldWriter writer(detail_);
    Fields<Type>::visit(writer, value);
    return writer.take();
  }

  Detail detail_;
  Json json_ = Json::object();
};

// Bytes that are not UTF-8 (in a driver's name) become U+FFFD instead of an exception.
std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string render_profile(const Profile& profile) {
  FieldWriter writer(Detail::profile);
  // Facts of schema 1 need not have sources, and remain without.
  const bool old = !profile.recording && explain_origin(profile.origin).first != nullptr;
  writer.count("schema_version", old ? 1U : profile_schema_version);
  FieldWriter origin(Detail::profile);
  origin.text("kind", profile.origin.kind);
  origin.text("source", profile.origin.source);
  origin.text("date", profile.origin.date);
  writer.member("origin", origin.take());
  if (profile.recording) {
    writer.member("recording", render_recording(*profile.recording));
  } else {
    Fields<detect::Machine>::visit(writer, profile.machine);
  }
  return dump(writer.take());
}

detect::Machine replay_profile(const Profile& profile) {
  if (!profile.recording) return profile.machine;
  detect::ReplayHost host(*profile.recording);
  return detect::probe_machine(host);
}

std::string render_machine_json(const detect::Machine& machine) {
  FieldWriter writer(Detail::facts);
  Fields<detect::Machine>::visit(writer, machine);
  return dump(writer.take());
}

}  // namespace axle::machines
