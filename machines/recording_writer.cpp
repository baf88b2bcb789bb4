#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "foundation/text/utf8.h"
#include "machines/profile_recording.h"
#include "machines/recording_words.h"

namespace axle::machines {

using detect::CpuidAnswers;
using detect::DriverAnswer;
using detect::Recording;
using words::Texts;
using Json = nlohmann::ordered_json;

namespace {

std::string render_hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string render_mask(std::uint64_t mask) { return fmt::format("{:#x}", mask); }

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
  if (text::is_valid_utf8(content)) return content;
  return {{"hex", render_hex(content)}};
}

/// A path that is not text cannot be a key, and is omitted.
bool is_key(std::string_view path) { return words::is_path(path) && text::is_valid_utf8(path); }

Json render_texts(const Texts& texts) {
  Json json = Json::object();
  for (const auto& [key, content] : texts) {
    if (is_key(key)) json[key] = render_content(content);
  }
  return json;
}

Json render_answer(const DriverAnswer& answer) {
  Json json = Json::object();
  const auto end =
      std::ranges::find(words::ends, answer.end, [](const auto& row) { return row.first; });
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
  if (recording.vtype) json["vtype"] = render_mask(*recording.vtype);
  put(json, "sysctl", render_texts(recording.sysctls));
}

void put_paths(Json& json, const Recording& recording) {
  put(json, "programs", render_texts(recording.programs));
  Json stopped = Json::array();
  for (const std::string& command : recording.stopped) {
    if (is_key(command)) stopped.push_back(command);
  }
  put(json, "stopped", std::move(stopped));
  put(json, "files", render_texts(recording.files));
  put(json, "links", render_texts(recording.links));
  Json folders = Json::object();
  for (const auto& [folder, names] : recording.folders) {
    if (is_key(folder)) folders[folder] = names;
  }
  put(json, "folders", std::move(folders));
  Json nodes = Json::object();
  for (const auto& [path, access] : recording.nodes) {
    if (!is_key(path)) continue;
    const auto row =
        std::ranges::find(words::accesses, access, [](const auto& each) { return each.first; });
    nodes[path] = row->second;
  }
  put(json, "nodes", std::move(nodes));
  put(json, "stamps", render_texts(recording.stamps));
}

}  // namespace

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
    if (answer.end == DriverAnswer::End::not_recorded) continue;
    drivers[std::string(detect::render_vendor(vendor))] = render_answer(answer);
  }
  put(json, "drivers", std::move(drivers));
  return json;
}

}  // namespace axle::machines
