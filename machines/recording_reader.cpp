#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machines/profile_fields.h"
#include "machines/profile_recording.h"
#include "machines/profile_schema.h"
#include "machines/recording_words.h"

namespace axle::machines {

using detect::CpuidAnswers;
using detect::CpuidLeaf;
using detect::DriverAnswer;
using detect::Recording;
using words::Texts;

namespace {

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
  if (!words::is_path(path)) part.reading().refuse(part.path_of(path), "expected a path as key");
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

void read_stopped(Object& object, Recording& recording) {
  const auto* commands = object.find("stopped");
  if (commands == nullptr) return;
  const auto is_program = [&](const auto& command) {
    return command.is_string() &&
           recording.programs.contains(command.template get_ref<const std::string&>());
  };
  if (!commands->is_array() || !std::ranges::all_of(*commands, is_program)) {
    return object.reading().refuse(object.path_of("stopped"), "expected an array of `programs`");
  }
  for (const auto& command : *commands) recording.stopped.insert(command.get<std::string>());
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
        std::ranges::find_if(words::accesses, [&](const auto& row) { return word == row.second; });
    if (found == words::accesses.end()) {
      return part.reading().refuse(part.path_of(path), "expected rw, r or none");
    }
    recording.nodes[path] = found->first;
  });
}

DriverAnswer read_answer(Object& part) {
  DriverAnswer answer;
  const std::string word = part.text("end");
  const auto end =
      std::ranges::find_if(words::ends, [&](const auto& row) { return word == row.second; });
  if (end == words::ends.end()) {
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
  for (const auto arch : arch_words.values) {
    if (word == detect::render_arch(arch)) return arch;
  }
  object.reading().refuse(object.path_of("arch"),
                          "expected x86_64, aarch64, ppc64le, riscv64, s390x or other");
  return detect::Arch::other;
}

std::optional<unsigned> read_length(Object& object, const std::string& key) {
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
  recording.vtype = read_mask(object, "vtype");
  read_texts(object, "sysctl", recording.sysctls, false);
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
  read_stopped(object, recording);
  read_texts(object, "files", recording.files);
  read_texts(object, "links", recording.links);
  read_folders(object, recording);
  read_nodes(object, recording);
  read_texts(object, "stamps", recording.stamps);
  object.part("drivers", [&](Object& part) {
    for (const auto vendor : vendor_words.values) {
      part.part(std::string(detect::render_vendor(vendor)),
                [&](Object& answer) { recording.answers[vendor] = read_answer(answer); });
    }
  });
}

}  // namespace axle::machines
