#include "installer/environment/scripts.h"

#include <fmt/format.h>

namespace axle::installer {
namespace {

/// Linux before 5.1 reads 127 bytes of the line, and splits it at white space.
constexpr std::size_t kernel_line = 127;

}  // namespace

Result<std::string> render_shebang(std::string_view python) {
  for (const unsigned char c : python) {
    if (c < 0x20 || c == 0x7f) {
      return fail(ErrorKind::unsupported, "the interpreter's path contains control characters",
                  "create the environment in another folder");
    }
  }
  std::string line = fmt::format("#!{}\n", python);
  if (line.size() <= kernel_line && python.find(' ') == std::string_view::npos) return line;
  if (python.find("'''") != std::string_view::npos) {
    return fail(ErrorKind::unsupported,
                "the interpreter's path contains ''', which cannot be quoted in a script",
                "create the environment in another folder");
  }
  // For sh the quotes are empty strings around `exec`; for Python everything is one string.
  std::string quoted;
  for (const char c : python) {
    if (c == '\\' || c == '"' || c == '$' || c == '`') quoted.push_back('\\');
    quoted.push_back(c);
  }
  return fmt::format("#!/bin/sh\n'''exec' \"{}\" \"$0\" \"$@\"\n' '''\n", quoted);
}

std::string render_script(const wheel::ScriptEntry& entry, std::string_view shebang) {
  const std::string_view object = entry.object;
  return fmt::format(
      "{}import sys\n\nfrom {} import {}\n\nif __name__ == \"__main__\":\n    sys.exit({}())\n",
      shebang, entry.module, object.substr(0, object.find('.')), object);
}

std::optional<std::string> rewrite_script(std::string_view text, std::string_view shebang) {
  std::string_view line = text.substr(0, text.find('\n'));
  const std::string_view rest = text.substr(std::min(line.size() + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line != "#!python" && line != "#!pythonw") return std::nullopt;
  return std::string(shebang).append(rest);
}

}  // namespace axle::installer
