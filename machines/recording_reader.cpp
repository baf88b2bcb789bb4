#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include <fmt/format.h>

#include "machines/profile_fields.h"
#include "machines/profile_recording.h"
#include "machines/profile_schema.h"
#include "machines/recording_words.h"

namespace axle::machines {

using detect::CpuidAnswers;
using detect::CpuidLeaf;
using detect::DriverAnswer;
using detect::Recording;
using documents::JsonNode;
using documents::JsonObject;
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

/// Calls `read(part, key)` for every entry under `key`, up to the limit.
void read_entries(JsonObject& object, const std::string& key,
                  const std::function<void(JsonObject&, const std::string&)>& read) {
  object.part(key, [&](JsonObject& part) {
    if (part.size() > most_answers) {
      part.reading().refuse(object.path_of(key),
                            fmt::format("expected at most {} entries", most_answers));
      return;
    }
    part.keys([&](const std::string& entry) { read(part, entry); });
  });
}

void read_leaves(JsonObject& object, const std::string& key, CpuidAnswers& leaves) {
  read_entries(object, key, [&](JsonObject& part, const std::string& entry) {
    const auto name = parse_leaf_name(entry);
    const auto leaf = parse_leaf(part.text(entry));
    if (!name) part.refuse(entry, "expected a leaf such as 7:0");
    if (!leaf) {
      part.refuse(entry, "expected eax ebx ecx edx, eight hexadecimal digits each");
    }
    if (name && leaf) leaves[*name] = *leaf;
  });
}

std::optional<std::uint64_t> read_mask(JsonObject& object, const std::string& key) {
  const std::string text = object.text(key);
  if (text.empty() && !object.has(key)) return std::nullopt;
  const auto mask = parse_mask(text);
  if (!mask) object.refuse(key, "expected a mask such as 0x600e7");
  return mask;
}

template <class Number>
void read_masks(JsonObject& object, const std::string& key,
                std::map<Number, std::uint64_t>& masks) {
  read_entries(object, key, [&](JsonObject& part, const std::string& entry) {
    const auto number = parse_number<Number>(entry, 10);
    const auto mask = read_mask(part, entry);
    if (!number) part.refuse(entry, "expected a number as key");
    if (number && mask) masks[*number] = *mask;
  });
}

/// A path or, before a program's arguments, a command.
void check_path(JsonObject& part, const std::string& path) {
  if (!words::is_path(path)) part.refuse(path, "expected a path as key");
}

/// A string, or {"hex": "…"} if it is not text.
std::string read_content(JsonObject& part, const std::string& entry) {
  const JsonNode* value = part.find(entry);
  if (value->kind == JsonNode::Kind::string) return value->text;
  std::string content;
  part.part(entry, [&](JsonObject& bytes) {
    const JsonNode* hex = bytes.find("hex");
    const auto parsed = hex != nullptr && hex->kind == JsonNode::Kind::string
                            ? parse_hex_bytes(hex->text)
                            : std::nullopt;
    if (!parsed) {
      bytes.reading().refuse(part.path_of(entry), "expected a string or {\"hex\": digits}");
    }
    content = parsed.value_or("");
  });
  return content;
}

void read_texts(JsonObject& object, const std::string& key, Texts& texts, bool paths = true) {
  read_entries(object, key, [&](JsonObject& part, const std::string& entry) {
    if (paths) check_path(part, entry);
    texts[entry] = read_content(part, entry);
  });
}

void read_stopped(JsonObject& object, Recording& recording) {
  const JsonNode* commands = object.find("stopped");
  if (commands == nullptr) return;
  const auto is_program = [&](const JsonNode& command) {
    return command.kind == JsonNode::Kind::string && recording.programs.contains(command.text);
  };
  if (commands->kind != JsonNode::Kind::array ||
      !std::ranges::all_of(commands->items, is_program)) {
    return object.refuse("stopped", "expected an array of `programs`");
  }
  for (const JsonNode& command : commands->items) recording.stopped.insert(command.text);
}

void read_folders(JsonObject& object, Recording& recording) {
  read_entries(object, "folders", [&](JsonObject& part, const std::string& folder) {
    check_path(part, folder);
    const JsonNode* names = part.find(folder);
    if (names->kind != JsonNode::Kind::array || names->items.size() > most_answers) {
      return part.refuse(folder, "expected an array of names");
    }
    for (const JsonNode& name : names->items) {
      const bool sound =
          name.kind == JsonNode::Kind::string && !name.text.empty() && !name.text.contains('/');
      if (!sound) return part.refuse(folder, "expected an array of names");
      recording.folders[folder].push_back(name.text);
    }
    std::ranges::sort(recording.folders[folder]);
  });
}

void read_nodes(JsonObject& object, Recording& recording) {
  read_entries(object, "nodes", [&](JsonObject& part, const std::string& path) {
    check_path(part, path);
    const std::string word = part.text(path);
    const auto found =
        std::ranges::find_if(words::accesses, [&](const auto& row) { return word == row.second; });
    if (found == words::accesses.end()) {
      return part.refuse(path, "expected rw, r or none");
    }
    recording.nodes[path] = found->first;
  });
}

void read_lines(JsonObject& part, std::string& text) {
  const JsonNode* lines = part.find("lines");
  if (lines == nullptr) return;
  const auto is_line = [](const JsonNode& line) {
    return line.kind == JsonNode::Kind::string && !line.text.contains('\n');
  };
  if (lines->kind != JsonNode::Kind::array || lines->items.size() > most_answers ||
      !std::ranges::all_of(lines->items, is_line)) {
    return part.refuse("lines", "expected an array of lines");
  }
  for (const JsonNode& line : lines->items) text += line.text + '\n';
}

DriverAnswer read_answer(JsonObject& part) {
  DriverAnswer answer;
  const std::string word = part.text("end");
  const auto end =
      std::ranges::find_if(words::ends, [&](const auto& row) { return word == row.second; });
  if (end == words::ends.end()) {
    part.refuse("end", "expected finished, crashed, timed_out or not_started");
  } else {
    answer.end = end->first;
  }
  answer.signal = static_cast<int>(part.number("signal", 127).value_or(0));
  read_lines(part, answer.lines);
  if (const JsonNode* rest = part.find("cut"); rest != nullptr) {
    if (rest->kind != JsonNode::Kind::string) part.refuse("cut", "expected a string");
    answer.lines += rest->text;
  }
  return answer;
}

detect::Arch read_architecture(JsonObject& object) {
  const std::string word = object.text("arch");
  for (const auto arch : arch_words.values) {
    if (word == detect::render_arch(arch)) return arch;
  }
  object.refuse("arch", "expected x86_64, aarch64, ppc64le, riscv64, s390x or other");
  return detect::Arch::other;
}

std::optional<unsigned> read_length(JsonObject& object, const std::string& key) {
  const auto length = object.number(key, longest_vector);
  if (!length) return std::nullopt;
  return static_cast<unsigned>(*length);
}

void read_processor(JsonObject& object, Recording& recording) {
  recording.cpus = static_cast<unsigned>(
      object.number("cpus", std::numeric_limits<unsigned>::max()).value_or(0));
  read_leaves(object, "cpuid", recording.leaves);
  read_entries(object, "cpuid_of", [&](JsonObject& part, const std::string& entry) {
    const auto cpu = parse_number<unsigned>(entry, 10);
    if (!cpu) return part.refuse(entry, "expected the number of a CPU");
    read_leaves(part, entry, recording.leaves_of_cpu[*cpu]);
  });
  recording.xcr0_value = read_mask(object, "xcr0").value_or(0);
  object.part("xcomp", [&](JsonObject& part) {
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

void read_recording(JsonObject& object, Recording& recording) {
  recording.architecture = read_architecture(object);
  object.part("system", [&](JsonObject& part) {
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
  object.part("drivers", [&](JsonObject& part) {
    for (const auto vendor : vendor_words.values) {
      part.part(std::string(detect::render_vendor(vendor)),
                [&](JsonObject& answer) { recording.answers[vendor] = read_answer(answer); });
    }
  });
}

}  // namespace axle::machines
