#include "detect/os_facts.h"

#include <algorithm>
#include <charconv>
#include <optional>

namespace axle::detect {
namespace {

constexpr std::size_t longest_name = 128;

/// The shell's reading of a value: one pair of quotes off, a backslash keeps the next character.
std::string unquote(std::string_view value) {
  while (!value.empty() && (value.back() == ' ' || value.back() == '\r')) value.remove_suffix(1);
  const char quote = value.empty() ? '\0' : value.front();
  if (value.size() >= 2 && (quote == '"' || quote == '\'') && value.back() == quote) {
    value = value.substr(1, value.size() - 2);
  }
  std::string text;
  for (std::size_t i = 0; i < value.size() && text.size() < longest_name; ++i) {
    if (value[i] == '\\' && quote != '\'' && i + 1 < value.size()) ++i;
    // Names may be UTF-8: only control characters are dropped.
    const bool control = static_cast<unsigned char>(value[i]) < ' ' || value[i] == '\x7f';
    if (!control) text += value[i];
  }
  return text;
}

std::string value_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    while (line.starts_with(' ')) line.remove_prefix(1);
    if (line.starts_with(key) && line.substr(key.size()).starts_with('=')) {
      return unquote(line.substr(key.size() + 1));
    }
  }
  return {};
}

/// "<major>.<minor>" at the front of `text`.
std::optional<Libc> parse_version(std::string_view text, std::string_view family) {
  Libc libc;
  const char* const end = text.data() + text.size();
  const auto [dot, error] = std::from_chars(text.data(), end, libc.major);
  if (error != std::errc{} || dot == end || *dot != '.') return std::nullopt;
  if (std::from_chars(dot + 1, end, libc.minor).ec != std::errc{}) return std::nullopt;
  libc.family = family;
  return libc;
}

}  // namespace

std::string parse_os_release(std::string_view text) {
  if (std::string name = value_of(text, "PRETTY_NAME"); !name.empty()) return name;
  const std::string name = value_of(text, "NAME");
  const std::string version = value_of(text, "VERSION_ID");
  return name.empty() || version.empty() ? name : name + ' ' + version;
}

Libc parse_glibc_version(std::string_view text) {
  constexpr std::string_view prefix = "glibc ";
  if (!text.starts_with(prefix)) return {};
  return parse_version(text.substr(prefix.size()), "glibc").value_or(Libc{});
}

Libc parse_musl_banner(std::string_view text) {
  if (!text.starts_with("musl")) return {};
  constexpr std::string_view key = "Version ";
  const std::size_t at = text.find(key);
  Libc unversioned;
  unversioned.family = "musl";
  if (at == std::string_view::npos) return unversioned;
  return parse_version(text.substr(at + key.size()), "musl").value_or(unversioned);
}

Os probe_os(Host& host, const SystemName& name) {
  Os os;
  os.system = name.system;
  os.kernel = name.release;
  auto release = host.read_file("/etc/os-release");
  if (!release) release = host.read_file("/usr/lib/os-release");
  os.name = parse_os_release(release.value_or(""));
  return os;
}

Libc probe_libc(Host& host) {
  const Libc glibc = parse_glibc_version(host.glibc_version());
  if (!glibc.family.empty()) return glibc;
  for (const std::string& name : host.list_folder("/lib")) {
    if (!name.starts_with("ld-musl-") || !name.ends_with(".so.1")) continue;
    const Libc musl = parse_musl_banner(host.program_output("/lib/" + name));
    if (!musl.family.empty()) return musl;
  }
  return {};
}

}  // namespace axle::detect
