#include "wheel/entry_points.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/utf8.h"
#include "wheel/name_folding.h"

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
    text = text::trim_ascii(text.substr(0, bracket));
  }
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view module = text::trim_ascii(text.substr(0, colon));
  const std::string_view object = text::trim_ascii(text.substr(colon + 1));
  if (!is_dotted_name(module) || !is_dotted_name(object)) return std::nullopt;
  return std::pair(module, object);
}

Result<ScriptEntry> parse_script(std::string_view line, bool gui) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return fail(ErrorKind::malformed, "no '='");
  const std::string_view name = text::trim_ascii(line.substr(0, equals));
  if (!is_script_name(name)) {
    return fail(ErrorKind::malformed, fmt::format("'{}' is not a valid name for a script", name));
  }
  if (is_reserved_script(name)) {
    return fail(
        ErrorKind::malformed,
        fmt::format("a script may not be called '{}': that name belongs to the environment", name));
  }
  const auto reference = split_reference(text::trim_ascii(line.substr(equals + 1)));
  if (!reference) {
    return fail(
        ErrorKind::malformed,
        fmt::format("'{}' is not a reference of the form module:object", line.substr(equals + 1)));
  }
  return ScriptEntry{std::string(name), std::string(reference->first),
                     std::string(reference->second), gui};
}

Result<PluginEntry> parse_plugin(std::string_view line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return fail(ErrorKind::malformed, "no '='");
  const std::string_view ns = text::trim_ascii(line.substr(0, equals));
  const bool is_namespace = !ns.empty() && std::ranges::all_of(ns, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
  if (!is_namespace)
    return fail(ErrorKind::malformed, fmt::format("'{}' is not a valid namespace", ns));
  const std::string_view reference = text::trim_ascii(line.substr(equals + 1));
  if (!is_plugin_api(reference)) {
    return fail(ErrorKind::malformed,
                fmt::format("'{}' is neither a module nor module:object", reference));
  }
  return PluginEntry{std::string(ns), std::string(reference)};
}

/// Gives every entry and its group to `take`; the first error ends it and gets its line's number.
template <class Take>
Result<void> read_lines(std::string_view text, std::string_view where, Take take) {
  if (!text::is_valid_utf8(text))
    return fail(ErrorKind::malformed, fmt::format("{}: not UTF-8 text", where));
  if (has_hidden_line_end(text)) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: a line separator that only some readers recognise", where));
  }
  std::string_view group;
  std::size_t number = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text::trim_ascii(text.substr(begin, end - begin));
    begin = end + 1;
    ++number;
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[' && line.back() == ']') {
      group = text::trim_ascii(line.substr(1, line.size() - 2));
      continue;
    }
    const Result<void> taken = take(group, line);
    if (!taken) return std::unexpected(within(fmt::format("{}:{}", where, number), taken.error()));
  }
  return {};
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
  std::string lower = text::ascii_lower(name);
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

bool is_plugin_api(std::string_view text) {
  const std::size_t colon = std::min(text.find(':'), text.size());
  if (!is_dotted_name(text.substr(0, colon))) return false;
  return colon == text.size() || is_dotted_name(text.substr(colon + 1));
}

Result<std::vector<ScriptEntry>> parse_entry_points(std::string_view text, std::string_view where) {
  std::vector<ScriptEntry> scripts;
  const auto read =
      read_lines(text, where, [&](std::string_view group, std::string_view line) -> Result<void> {
        const bool gui = group == "gui_scripts";
        if (!gui && group != "console_scripts") return {};
        auto script = parse_script(line, gui);
        if (!script) return std::unexpected(script.error());
        if (std::ranges::find(scripts, script->name, &ScriptEntry::name) != scripts.end()) {
          return fail(ErrorKind::malformed, fmt::format("duplicate script '{}'", script->name));
        }
        scripts.push_back(std::move(*script));
        return {};
      });
  if (!read) return std::unexpected(read.error());
  return scripts;
}

Result<std::vector<PluginEntry>> parse_plugin_entry_points(std::string_view text,
                                                           std::string_view where) {
  std::vector<PluginEntry> plugins;
  const auto read =
      read_lines(text, where, [&](std::string_view group, std::string_view line) -> Result<void> {
        if (group != "variant_plugins") return {};
        auto plugin = parse_plugin(line);
        if (!plugin) return std::unexpected(plugin.error());
        if (std::ranges::find(plugins, plugin->ns, &PluginEntry::ns) != plugins.end()) {
          return fail(ErrorKind::malformed, fmt::format("duplicate namespace '{}'", plugin->ns));
        }
        plugins.push_back(std::move(*plugin));
        return {};
      });
  if (!read) return std::unexpected(read.error());
  return plugins;
}

}  // namespace axle::wheel
