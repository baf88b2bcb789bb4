#include "machines/profile_recording.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machines/profile_schema.h"

namespace axle::machines {

using detect::Access;
using detect::CpuidLeaf;
using detect::CpuidAnswers;
using detect::DriverAnswer;
using detect::Recording;
using Json = nlohmann::ordered_json;
using Texts = std::map<std::string, std::string>;

namespace {

constexpr std::array accesses{std::pair{Access::exists, "none"}, std::pair{Access::read, "r"},
                              std::pair{Access::read_write, "rw"}};
constexpr std::array ends{std::pair{DriverAnswer::End::finished, "finished"},
                          std::pair{DriverAnswer::End::crashed, "crashed"},
                          std::pair{DriverAnswer::End::timed_out, "timed_out"},
                          std::pair{DriverAnswer::End::not_started, "not_started"}};
constexpr std::array vendors{detect::GpuVendor::nvidia, detect::GpuVendor::amd,
                             detect::GpuVendor::intel};
constexpr std::array architectures{detect::Arch::x86_64,  detect::Arch::aarch64,
                                   detect::Arch::ppc64le, detect::Arch::riscv64,
                                   detect::Arch::s390x,   detect::Arch::other};

// --- text ----------------------------------------------------------------------------------------

/// How many bytes the UTF-8 character at the front of `text` has; 0 where there is none.
std::size_t length_of_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xC2 ? 0
                             : first < 0xE0 ? 2
                             : first < 0xF0 ? 3
                             : first < 0xF5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  // Overlong forms, surrogates, beyond U+10FFFF.
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = length_of_character(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string render_hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::optional<std::string> parse_hex_bytes(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    unsigned value = 0;
    const char* const end = text.data() + i + 2;
    const auto [stop, error] = std::from_chars(text.data() + i, end, value, 16);
    if (error != std::errc() || stop != end) return std::nullopt;
    bytes += static_cast<char>(value);
  }
  return bytes;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text, int base) {
  Number value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (error != std::errc() || stop != end || text.empty()) return std::nullopt;
  return value;
}

/// "0x600e7"
std::optional<std::uint64_t> parse_mask(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  return parse_number<std::uint64_t>(text.substr(2), 16);
}

std::string render_mask(std::uint64_t mask) { return fmt::format("{:#x}", mask); }

/// "00000020 756e6547 6c65746e 49656e69": eax ebx ecx edx
std::optional<CpuidLeaf> parse_leaf(std::string_view text) {
  constexpr std::size_t digits = 8;
  constexpr std::size_t length = 4 * digits + 3;
  if (text.size() != length) return std::nullopt;
  CpuidLeaf leaf;
  std::size_t at = 0;
  for (std::uint32_t* part : {&leaf.eax, &leaf.ebx, &leaf.ecx, &leaf.edx}) {
    const auto value = parse_number<std::uint32_t>(text.substr(at, digits), 16);
    if (!value || (at > 0 && text[at - 1] != ' ')) return std::nullopt;
    *part = *value;
    at += digits + 1;
  }
  return leaf;
}

std::optional<std::pair<std::uint32_t, std::uint32_t>> parse_leaf_name(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto leaf = parse_number<std::uint32_t>(text.substr(0, colon), 16);
  const auto subleaf = parse_number<std::uint32_t>(text.substr(colon + 1), 16);
  if (!leaf || !subleaf) return std::nullopt;
  return std::pair(*leaf, *subleaf);
}

// --- reading -------------------------------------------------------------------------------------

/// Calls `read(part, key)` for every entry under `key`, as long as there are not too many.
void read_entries(Object& object, const std::string& key,
                  const std::function<void(Object&, const std::string&)>& read) {
  object.part(key, [&](Object& part) {
    if (part.json().is_object() && part.json().size() > most_answers) {
      part.reading().refuse(object.path_of(key),
                            fmt::format("expected at most {} entries", most_answers));
      return;
    }
    part.keys([&](const std::string& entry) { read(part, entry); });
  });
}

void read_leaves(Object& object, const std::string& key, CpuidAnswers& leaves) {
  read_entries(object, key, [&](Object& part, const std::string& entry) {
    const auto name = parse_leaf_name(entry);
    const auto leaf = parse_leaf(part.text(entry));
    if (!name) part.reading().refuse(part.path_of(entry), "expected a leaf such as 7:0");
    if (!leaf) {
      part.reading().refuse(part.path_of(entry),
                            "expected eax ebx ecx edx, eight hexadecimal digits each");
    }
    if (name && leaf) leaves[*name] = *leaf;
  });
}

std::optional<std::uint64_t> read_mask(Object& object, const std::string& key) {
  const std::string text = object.text(key);
  if (text.empty() && !object.has(key)) return std::nullopt;
  const auto mask = parse_mask(text);
  if (!mask) object.reading().refuse(object.path_of(key), "expected a mask such as 0x600e7");
  return mask;
}

template <class Number>
void read_masks(Object& object, const std::string& key, std::map<Number, std::uint64_t>& masks) {
  read_entries(object, key, [&](Object& part, const std::string& entry) {
    const auto number = parse_number<Number>(entry, 10);
    const auto mask = read_mask(part, entry);
    if (!number) part.reading().refuse(part.path_of(entry), "expected a number as key");
    if (number && mask) masks[*number] = *mask;
  });
}

/// A path or, where it stands before a program's arguments, a command.
void check_path(Object& part, const std::string& path) {
  const bool plain =
      std::ranges::none_of(path, [](char c) { return static_cast<unsigned char>(c) < ' '; });
  if (!path.starts_with('/') || path.size() > longest_text || !plain) {
    part.reading().refuse(part.path_of(path), "expected an absolute path as key");
  }
}

/// A string, or {"hex": "…"} for what is no text.
std::string read_content(Object& part, const std::string& entry) {
  const auto* value = part.find(entry);
  if (value->is_string()) return value->get<std::string>();
  std::string content;
  part.part(entry, [&](Object& bytes) {
    const auto* hex = bytes.find("hex");
    const auto parsed = hex != nullptr && hex->is_string()
                            ? parse_hex_bytes(hex->get_ref<const std::string&>())
                            : std::nullopt;
    if (!parsed) {
      bytes.reading().refuse(part.path_of(entry), "expected a string or {\"hex\": digits}");
    }
    content = parsed.value_or("");
  });
  return content;
}

void read_texts(Object& object, const std::string& key, Texts& texts, bool paths = true) {
  read_entries(object, key, [&](Object& part, const std::string& entry) {
    if (paths) check_path(part, entry);
    texts[entry] = read_content(part, entry);
  });
}

void read_folders(Object& object, Recording& recording) {
  read_entries(object, "folders", [&](Object& part, const std::string& folder) {
    check_path(part, folder);
    const auto* names = part.find(folder);
    if (!names->is_array() || names->size() > most_answers) {
      return part.reading().refuse(part.path_of(folder), "expected an array of names");
    }
    for (const auto& name : *names) {
      const bool sound = name.is_string() && !name.get_ref<const std::string&>().empty() &&
                         name.get_ref<const std::string&>().find('/') == std::string::npos;
      if (!sound) return part.reading().refuse(part.path_of(folder), "expected an array of names");
      recording.folders[folder].push_back(name.get<std::string>());
    }
    std::ranges::sort(recording.folders[folder]);
  });
}

void read_nodes(Object& object, Recording& recording) {
  read_entries(object, "nodes", [&](Object& part, const std::string& path) {
    check_path(part, path);
    const std::string word = part.text(path);
    const auto found =
        std::ranges::find_if(accesses, [&](const auto& row) { return word == row.second; });
    if (found == accesses.end()) {
      return part.reading().refuse(part.path_of(path), "expected rw, r or none");
    }
    recording.nodes[path] = found->first;
  });
}

DriverAnswer read_answer(Object& part) {
  DriverAnswer answer;
  const std::string word = part.text("end");
  const auto end = std::ranges::find_if(ends, [&](const auto& row) { return word == row.second; });
  if (end == ends.end()) {
    part.reading().refuse(part.path_of("end"),
                          "expected finished, crashed, timed_out or not_started");
  } else {
    answer.end = end->first;
  }
  answer.signal = static_cast<int>(part.number("signal", 127).value_or(0));
  if (const auto* lines = part.find("lines")) {
    if (!lines->is_array() || lines->size() > most_answers) {
      part.reading().refuse(part.path_of("lines"), "expected an array of lines");
      return answer;
    }
    for (const auto& line : *lines) {
      if (!line.is_string() || line.get_ref<const std::string&>().find('\n') != std::string::npos) {
        part.reading().refuse(part.path_of("lines"), "expected an array of lines");
        return answer;
      }
      answer.lines += line.get_ref<const std::string&>() + '\n';
    }
  }
  if (const auto* rest = part.find("cut"); rest != nullptr && rest->is_string()) {
    answer.lines += rest->get_ref<const std::string&>();
  } else if (rest != nullptr) {
    part.reading().refuse(part.path_of("cut"), "expected a string");
  }
  return answer;
}

detect::Arch read_architecture(Object& object) {
  const std::string word = object.text("arch");
  for (const auto arch : architectures) {
    if (word == detect::render_arch(arch)) return arch;
  }
  object.reading().refuse(object.path_of("arch"),
                          "expected x86_64, aarch64, ppc64le, riscv64, s390x or other");
  return detect::Arch::other;
}

std::optional<unsigned> read_length(Object& object, const std::string& key) {
  constexpr std::uint64_t longest_vector = 256;
  const auto length = object.number(key, longest_vector);
  if (!length) return std::nullopt;
  return static_cast<unsigned>(*length);
}

void read_processor(Object& object, Recording& recording) {
  recording.cpus = static_cast<unsigned>(
      object.number("cpus", std::numeric_limits<unsigned>::max()).value_or(0));
  read_leaves(object, "cpuid", recording.leaves);
  read_entries(object, "cpuid_of", [&](Object& part, const std::string& entry) {
    const auto cpu = parse_number<unsigned>(entry, 10);
    if (!cpu) return part.reading().refuse(part.path_of(entry), "expected the number of a CPU");
    read_leaves(part, entry, recording.leaves_of_cpu[*cpu]);
  });
  recording.xcr0_value = read_mask(object, "xcr0").value_or(0);
  object.part("xcomp", [&](Object& part) {
    recording.xcomp_supported = read_mask(part, "supported");
    recording.xcomp_permitted = read_mask(part, "permitted");
  });
  read_masks(object, "auxv", recording.auxiliary_values);
  recording.sve_bytes = read_length(object, "sve_bytes");
  recording.sme_bytes = read_length(object, "sme_bytes");
  read_masks(object, "hwprobe", recording.hwprobe);
}

// --- writing -------------------------------------------------------------------------------------

Json render_leaves(const CpuidAnswers& leaves) {
  Json json = Json::object();
  for (const auto& [name, leaf] : leaves) {
    json[fmt::format("{:x}:{:x}", name.first, name.second)] =
        fmt::format("{:08x} {:08x} {:08x} {:08x}", leaf.eax, leaf.ebx, leaf.ecx, leaf.edx);
  }
  return json;
}

template <class Number>
Json render_masks(const std::map<Number, std::uint64_t>& masks) {
  Json json = Json::object();
  for (const auto& [number, mask] : masks) json[std::to_string(number)] = render_mask(mask);
  return json;
}

Json render_content(const std::string& content) {
  if (is_utf8(content)) return content;
  return {{"hex", render_hex(content)}};
}

/// A path that is no text cannot be a key; nothing that detection reads is called so.
Json render_texts(const Texts& texts) {
  Json json = Json::object();
  for (const auto& [key, content] : texts) {
    if (is_utf8(key)) json[key] = render_content(content);
  }
  return json;
}

Json render_answer(const DriverAnswer& answer) {
  Json json = Json::object();
  const auto end = std::ranges::find(ends, answer.end, [](const auto& row) { return row.first; });
  json["end"] = end->second;
  if (answer.signal != 0) json["signal"] = answer.signal;
  Json lines = Json::array();
  std::string_view rest = answer.lines;
  while (rest.find('\n') != std::string_view::npos) {
    lines.push_back(rest.substr(0, rest.find('\n')));
    rest.remove_prefix(rest.find('\n') + 1);
  }
  if (!lines.empty()) json["lines"] = std::move(lines);
  if (!rest.empty()) json["cut"] = rest;
  return json;
}

void put(Json& json, const char* key, Json value) {
  if (!value.empty()) json[key] = std::move(value);
}

void put_processor(Json& json, const Recording& recording) {
  if (recording.cpus != 0) json["cpus"] = recording.cpus;
  put(json, "cpuid", render_leaves(recording.leaves));
  Json others = Json::object();
  for (const auto& [cpu, leaves] : recording.leaves_of_cpu) {
    others[std::to_string(cpu)] = render_leaves(leaves);
  }
  put(json, "cpuid_of", std::move(others));
  if (recording.xcr0_value != 0) json["xcr0"] = render_mask(recording.xcr0_value);
  Json xcomp = Json::object();
  if (recording.xcomp_supported) xcomp["supported"] = render_mask(*recording.xcomp_supported);
  if (recording.xcomp_permitted) xcomp["permitted"] = render_mask(*recording.xcomp_permitted);
  put(json, "xcomp", std::move(xcomp));
  put(json, "auxv", render_masks(recording.auxiliary_values));
  if (recording.sve_bytes) json["sve_bytes"] = *recording.sve_bytes;
  if (recording.sme_bytes) json["sme_bytes"] = *recording.sme_bytes;
  put(json, "hwprobe", render_masks(recording.hwprobe));
}

void put_paths(Json& json, const Recording& recording) {
  put(json, "programs", render_texts(recording.programs));
  put(json, "files", render_texts(recording.files));
  put(json, "links", render_texts(recording.links));
  Json folders = Json::object();
  for (const auto& [folder, names] : recording.folders) folders[folder] = names;
  put(json, "folders", std::move(folders));
  Json nodes = Json::object();
  for (const auto& [path, access] : recording.nodes) {
    const auto row =
        std::ranges::find(accesses, access, [](const auto& each) { return each.first; });
    nodes[path] = row->second;
  }
  put(json, "nodes", std::move(nodes));
  put(json, "stamps", render_texts(recording.stamps));
}

}  // namespace

void read_recording(Object& object, Recording& recording) {
  recording.architecture = read_architecture(object);
  object.part("system", [&](Object& part) {
    recording.name = {part.text("name"), part.text("release"), part.text("machine")};
  });
  recording.glibc = object.text("glibc");
  read_processor(object, recording);
  read_texts(object, "variables", recording.variables, false);
  read_texts(object, "programs", recording.programs);
  read_texts(object, "files", recording.files);
  read_texts(object, "links", recording.links);
  read_folders(object, recording);
  read_nodes(object, recording);
  read_texts(object, "stamps", recording.stamps);
  object.part("drivers", [&](Object& part) {
    for (const auto vendor : vendors) {
      part.part(std::string(detect::render_vendor(vendor)),
                [&](Object& answer) { recording.answers[vendor] = read_answer(answer); });
    }
  });
}

Json render_recording(const Recording& recording) {
  Json json = Json::object();
  json["arch"] = detect::render_arch(recording.architecture);
  Json system = Json::object();
  if (!recording.name.system.empty()) system["name"] = recording.name.system;
  if (!recording.name.release.empty()) system["release"] = recording.name.release;
  if (!recording.name.machine.empty()) system["machine"] = recording.name.machine;
  put(json, "system", std::move(system));
  if (!recording.glibc.empty()) json["glibc"] = recording.glibc;
  put_processor(json, recording);
  put(json, "variables", render_texts(recording.variables));
  put_paths(json, recording);
  Json drivers = Json::object();
  for (const auto& [vendor, answer] : recording.answers) {
    drivers[std::string(detect::render_vendor(vendor))] = render_answer(answer);
  }
  put(json, "drivers", std::move(drivers));
  return json;
}

}  // namespace axle::machines
