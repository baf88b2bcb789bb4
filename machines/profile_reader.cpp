#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "foundation/documents/json_object.h"
#include "machines/contradictions.h"
#include "machines/possible_facts.h"
#include "machines/profile.h"
#include "machines/profile_fields.h"
#include "machines/profile_recording.h"
#include "machines/profile_schema.h"

namespace axle::machines {

using detect::Presence;
using documents::JsonObject;
using documents::JsonReading;

namespace {

constexpr std::uint64_t largest_count = std::numeric_limits<unsigned>::max();

/// "x86_64, aarch64 or other"
template <class Enum, std::size_t count>
std::string list_words(const Words<Enum, count>& words) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) text += i + 1 == count ? " or " : ", ";
    text += words.render(words.values[i]);
  }
  return text;
}

Presence read_presence(JsonObject& object, std::string_view key) {
  const std::string word = object.text(key);
  if (word.empty()) return Presence::unknown;
  for (const Presence presence :
       {Presence::unknown, Presence::absent, Presence::blocked, Presence::present}) {
    if (word == detect::render_presence(presence)) return presence;
  }
  object.refuse(key, "expected present, absent, blocked or unknown");
  return Presence::unknown;
}

/// Fills the fields of one object (machines/profile_fields.h).
class ProfileFieldReader {
 public:
  explicit ProfileFieldReader(JsonObject& object) : object_(object) {}

  void text(const char* key, std::string& value) { value = object_.text(key); }
  template <class Number>
  void number(const char* key, std::optional<Number>& value, std::uint64_t largest) {
    if (const auto read = object_.number(key, largest)) value = static_cast<Number>(*read);
  }
  void count(const char* key, unsigned& value, std::uint64_t largest = largest_count) {
    value = static_cast<unsigned>(object_.number(key, largest).value_or(0));
  }
  void flag(const char* key, bool& value) { value = object_.flag(key); }
  void flag(const char* key, std::optional<bool>& value) {
    if (object_.has(key)) value = object_.flag(key);
  }
  void presence(const char* key, detect::Presence& value) { value = read_presence(object_, key); }
  template <class Enum, std::size_t count>
  void word(const char* key, Enum& value, const Words<Enum, count>& words) {
    const std::string given = object_.text(key);
    const auto* const found = std::ranges::find(words.values, given, words.render);
    value = found == words.values.end() ? words.values.back() : *found;
    if (found != words.values.end() || (given.empty() && !words.required)) return;
    object_.refuse(key, "expected " + list_words(words));
  }
  /// These two are derived from the capabilities.
  void level(const char*, const detect::CapabilityFacts&) {}
  void amx(const char*, const detect::Cpu&) {}
  void capabilities(const char* key, detect::Arch, detect::CapabilityFacts& facts) {
    object_.part(key, [&](JsonObject& part) {
      part.keys([&](const std::string& name) {
        // finish() rejects unknown ones.
        const auto capability = detect::find_capability(name);
        if (capability) facts.set(*capability, read_presence(part, name));
      });
    });
  }
  void sources(const char* key, detect::Sources& sources) {
    object_.part(key, [&](JsonObject& part) {
      part.keys([&](const std::string& fact) { sources[fact] = part.text(fact); });
    });
  }
  void version(const char* key, unsigned& major, unsigned& minor) {
    const std::string version = object_.text(key);
    if (version.empty()) return;
    const char* const end = version.data() + version.size();
    const auto first = std::from_chars(version.data(), end, major);
    const bool dot = first.ec == std::errc() && first.ptr != end && *first.ptr == '.';
    const auto second = dot ? std::from_chars(first.ptr + 1, end, minor) : first;
    if (!dot || second.ec != std::errc() || second.ptr != end) {
      object_.refuse(key, "expected a version such as 2.36");
    }
  }
  template <class Type>
  void part(const char* key, Type& value) {
    object_.part(key, [&](JsonObject& part) { read(part, value); });
  }
  template <class Type>
  void part(const char* key, std::optional<Type>& value) {
    object_.part(key, [&](JsonObject& part) { read(part, value.emplace()); });
  }
  template <class Type>
  void each(const char* key, std::vector<Type>& values) {
    object_.each(key, [&](JsonObject& part) { read(part, values.emplace_back()); });
  }
  /// One under each vendor's word.
  void drivers(const char* key, std::vector<detect::Driver>& drivers) {
    object_.part(key, [&](JsonObject& part) {
      for (const auto vendor : vendor_words.values) {
        part.part(std::string(detect::render_vendor(vendor)), [&](JsonObject& driver) {
          drivers.emplace_back().vendor = vendor;
          read(driver, drivers.back());
        });
      }
    });
  }

 private:
  template <class Type>
  static void read(JsonObject& object, Type& value) {
    ProfileFieldReader reader(object);
    Fields<Type>::visit(reader, value);
  }

  JsonObject& object_;
};

bool is_date(std::string_view text) {
  constexpr std::string_view shape = "0000-00-00";
  if (text.size() != shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (shape[i] == '-' ? text[i] != '-' : !digit) return false;
  }
  return true;
}

/// Stated facts that are impossible; those found on a machine are accepted.
void refuse_impossible(const detect::Machine& machine, JsonReading& reading) {
  const auto check = [&](const std::string& path, const std::string& value,
                         const std::optional<std::string>& nearest) {
    if (!value.empty() && nearest) {
      reading.refuse(path, fmt::format("no machine has {}; nearest known: {}", value, *nearest));
    }
  };
  for (std::size_t i = 0; i < machine.gpus.size(); ++i) {
    const detect::Gpu& gpu = machine.gpus[i];
    check(fmt::format("gpus[{}].arch", i), gpu.arch, nearest_arch(gpu.vendor, gpu.arch));
  }
  for (const detect::Driver& driver : machine.drivers) {
    const std::string path = fmt::format("drivers.{}.", detect::render_vendor(driver.vendor));
    for (const auto& [key, version] : {std::pair{"kernel_version", &driver.kernel_version},
                                       std::pair{"library_version", &driver.library_version}}) {
      check(path + key, *version, nearest_driver(driver.vendor, *version, machine.os.system));
    }
    check(path + "api_version", driver.api_version, nearest_api(driver.vendor, driver.api_version));
  }
  const detect::Libc& libc = machine.libc;
  check("libc.version", libc.family, nearest_libc(libc.family, libc.major, libc.minor));
  constexpr std::array<std::string_view, 4> systems = {"", "Linux", "Windows", "Darwin"};
  if (std::ranges::find(systems, machine.os.system) == systems.end())
    reading.refuse("os.system", "expected Linux, Windows or Darwin");
  if (const auto version = detect::macos_version(machine.os))
    check("os.name", machine.os.name, nearest_macos(*version));
  if (const auto contradiction = find_contradiction(machine))
    reading.refuse(contradiction->path, contradiction->message, render_nearest(*contradiction));
}

Profile read_profile(JsonObject& object, std::uint64_t schema) {
  Profile profile;
  const bool checked = schema >= 2;
  if (checked && !object.has("origin")) {
    object.reading().refuse("origin", "expected the origin of the profile");
  }
  object.part("origin", [&](JsonObject& part) {
    profile.origin = {part.text("kind"), part.text("source"), part.text("date")};
    const auto [key, wanted] = explain_origin(profile.origin);
    if (checked && key != nullptr) part.refuse(key, wanted);
  });
  if (checked && object.has("recording")) {
    object.part("recording",
                [&](JsonObject& part) { read_recording(part, profile.recording.emplace()); });
  } else {
    ProfileFieldReader reader(object);
    Fields<detect::Machine>::visit(reader, profile.machine);
    if (profile.origin.kind != "captured") refuse_impossible(profile.machine, object.reading());
  }
  return profile;
}

std::uint64_t check_schema(JsonObject& object) {
  constexpr std::uint64_t largest = 1'000'000;
  const auto version = object.number("schema_version", largest);
  if (!version || *version == 0) {
    object.reading().refuse("", "is not a machine profile: schema_version is missing");
  } else if (*version > profile_schema_version) {
    object.reading().refuse(
        Error{ErrorKind::unsupported,
              fmt::format("{}: schema_version: {} is newer than this version of Axle, which reads "
                          "profiles up to {}",
                          object.reading().where(), *version, profile_schema_version),
              fmt::format("nearest that can be: {}; read it with the version of Axle that wrote it",
                          profile_schema_version)});
  }
  return version.value_or(0);
}

}  // namespace

std::pair<const char*, const char*> explain_origin(const ProfileOrigin& origin) {
  if (origin.kind != "captured" && origin.kind != "synthesised") {
    return {"kind", "expected captured or synthesised"};
  }
  if (origin.source.empty()) {
    return {"source", "expected the program or the documents that the profile comes from"};
  }
  const bool dated = origin.kind == "captured" || !origin.date.empty();
  if (dated && !is_date(origin.date)) {
    return {"date", "expected a date such as 2026-11-21"};
  }
  return {};
}

Result<Profile> parse_profile(std::string_view json, std::string_view where) {
  const std::string hint = "record a profile with `variant detect --profile machine.json`";
  if (json.size() > largest_profile) {
    return fail(ErrorKind::malformed, fmt::format("{}: too large for a machine profile", where),
                hint);
  }
  auto root = documents::parse_json_tree(
      json, where, {.bytes = largest_profile, .values = largest_profile, .depth = deepest_nesting});
  if (!root) {
    Error error = std::move(root).error();
    error.hint = hint;
    return std::unexpected(std::move(error));
  }
  JsonReading reading(where, hint, {.longest_text = longest_text, .most_items = most_items});
  JsonObject object(*root, reading);
  Profile profile = read_profile(object, check_schema(object));
  object.finish();
  if (reading.error()) return std::unexpected(*reading.error());
  return profile;
}

}  // namespace axle::machines
