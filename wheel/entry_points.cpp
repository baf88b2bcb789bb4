#include "wheel/entry_points.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "wheel/ascii.h"

namespace axle::wheel {
namespace {

/// "", "3", "3.11", "3.13t": what follows the name of an interpreter.
bool is_interpreter_version(std::string_view text) {
  const auto skip_digits = [&text] {
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') text.remove_prefix(1);
  };
  skip_digits();
  while (text.size() > 1 && text.front() == '.') {
    text.remove_prefix(1);
    skip_digits();
  }
  if (text.starts_with('t')) text.remove_prefix(1);
  return text.empty();
}

bool is_letter(unsigned char c) { return (c | 0x20U) >= 'a' && (c | 0x20U) <= 'z'; }
bool is_digit(unsigned char c) { return c >= '0' && c <= '9'; }

/// "a.b_c": identifiers joined by dots. Bytes above ASCII count as letters: Python has more of
/// them.
bool is_dotted_name(std::string_view text) {
  bool begins = true;
  for (const unsigned char c : text) {
    if (c == '.') {
      if (begins) return false;
      begins = true;
    } else if (is_letter(c) || c == '_' || c >= 0x80 || (is_digit(c) && !begins)) {
      begins = false;
    } else {
      return false;
    }
  }
  return !begins;
}

/// "module:object [extras]"; the extras are history and mean nothing to an installer.
std::optional<std::pair<std::string_view, std::string_view>> split_reference(
    std::string_view text) {
  if (text.ends_with(']')) {
    const std::size_t bracket = text.find('[');
    if (bracket == std::string_view::npos) return std::nullopt;
    text = trim_ascii(text.substr(0, bracket));
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view module = trim_ascii(text.substr(0, colon));
  const std::string_view object = trim_ascii(text.substr(colon + 1));
  if (!is_dotted_name(module) || !is_dotted_name(object)) return std::nullopt;
  return std::pair(module, object);
}

Result<ScriptEntry> parse_script(std::string_view line, bool gui) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return fail(ErrorKind::malformed, "no '='");
  const std::string_view name = trim_ascii(line.substr(0, equals));
  if (!is_script_name(name)) {
    return fail(ErrorKind::malformed, fmt::format("'{}' is no name for a script", name));
  }
  if (is_reserved_script(name)) {
    return fail(
        ErrorKind::malformed,
        fmt::format("a script may not be called '{}': that is the environment's own", name));
  }
  const auto reference = split_reference(trim_ascii(line.substr(equals + 1)));
  if (!reference) {
    return fail(ErrorKind::malformed, fmt::format("'{}' is no reference of the form module:object",
                                                  line.substr(equals + 1)));
  }
  return ScriptEntry{std::string(name), std::string(reference->first),
                     std::string(reference->second), gui};
}

}  // namespace

bool is_script_name(std::string_view name) {
  if (name.empty() || name.size() > 255 || name == "." || name == ".." || name[0] == '-')
    return false;
  return std::ranges::all_of(name, [](unsigned char c) {
    return is_letter(c) || is_digit(c) || c == '.' || c == '_' || c == '-' || c == '+';
  });
}

bool is_reserved_script(std::string_view name) {
  std::string lower = ascii_lower(name);
  if (lower.ends_with(".exe")) lower.resize(lower.size() - 4);
  static constexpr std::array<std::string_view, 7> activation = {
      "activate",     "activate.csh", "activate.fish",   "activate.ps1",
      "activate.bat", "activate.nu",  "activate_this.py"};
  if (std::ranges::find(activation, lower) != activation.end()) return true;
  static constexpr std::array<std::string_view, 4> interpreters = {"pythonw", "python", "pypy",
                                                                   "graalpy"};
  return std::ranges::any_of(interpreters, [&](std::string_view interpreter) {
    return lower.starts_with(interpreter) &&
           is_interpreter_version(std::string_view(lower).substr(interpreter.size()));
  });
}

Result<std::vector<ScriptEntry>> parse_entry_points(std::string_view text, std::string_view where) {
  std::vector<ScriptEntry> scripts;
  std::string_view group;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = trim_ascii(text.substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      group = trim_ascii(line.substr(1, line.size() - 2));
      continue;
    }
    const bool gui = group == "gui_scripts";
    if (!gui && group != "console_scripts") continue;
    auto script = parse_script(line, gui);
    if (script && std::ranges::find(scripts, script->name, &ScriptEntry::name) != scripts.end()) {
      script = fail(ErrorKind::malformed, fmt::format("script '{}' is there twice", script->name));
    }
    if (!script)
      return std::unexpected(within(fmt::format("{}:{}", where, number), script.error()));
    scripts.push_back(std::move(*script));
  }
  return scripts;
}

}  // namespace axle::wheel
