#include "detect/os/os_facts.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <utility>

#include "detect/drivers/driver_lines.h"
#include "detect/os/container_marks.h"
#include "detect/text_pieces.h"

namespace axle::detect {
namespace {

constexpr std::size_t longest_name = 128;
constexpr std::string_view decimal_digits = "0123456789";

/// The shell's interpretation of a value: one pair of quotes is removed, a backslash keeps the next
/// character.
std::string unquote(std::string_view value) {
  while (!value.empty() && (value.back() == ' ' || value.back() == '\r')) value.remove_suffix(1);
  const char quote = value.empty() ? '\0' : value.front();
  if (value.size() >= 2 && (quote == '"' || quote == '\'') && value.back() == quote) {
    value = value.substr(1, value.size() - 2);
  }
  std::string text;
  for (std::size_t i = 0; i < value.size() && text.size() < longest_name; ++i) {
    if (value[i] == '\\' && quote != '\'' && i + 1 < value.size()) ++i;
    // Names may be UTF-8: only control characters are dropped, those of U+0080 to U+009F as a pair.
    const auto byte = static_cast<unsigned char>(value[i]);
    const auto next = static_cast<unsigned char>(i + 1 < value.size() ? value[i + 1] : '\0');
    const bool pair = byte == 0xC2 && next >= 0x80 && next <= 0x9F;
    if (pair) ++i;
    if (!pair && byte >= ' ' && byte != 0x7F) text += value[i];
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

std::string parse_tegra_release(std::string_view text) {
  constexpr std::string_view revision_key = "REVISION: ";
  text = text.substr(0, text.find('\n'));
  if (!text.starts_with("# R")) return {};
  text.remove_prefix(3);
  const std::string_view major = text.substr(0, text.find_first_not_of(decimal_digits));
  const std::size_t at = text.find(revision_key);
  if (major.empty() || at == std::string_view::npos) return {};
  text.remove_prefix(at + revision_key.size());
  std::string_view revision = text.substr(0, text.find_first_not_of("0123456789."));
  while (revision.ends_with('.')) revision.remove_suffix(1);
  if (revision.empty() || revision.starts_with('.') || revision.size() > 16 || major.size() > 8) {
    return {};
  }
  return std::string(major) + '.' + std::string(revision);
}

bool is_wsl_kernel(std::string_view release) {
  return release.find("icrosoft") != std::string_view::npos || release.ends_with("WSL2");
}

Os probe_os(Host& host, const SystemName& name) {
  Os os;
  os.system = name.system;
  os.kernel = name.release;
  os.sources = {{"system", "uname"}, {"kernel", "uname"}, {"wsl", "uname"}};
  for (const char* path : {"/etc/os-release", "/usr/lib/os-release"}) {
    const auto release = host.read_file(path);
    if (!release) continue;
    os.name = parse_os_release(*release);
    os.sources["name"] = path;
    break;
  }
  if (name.system == "Darwin") {
    const auto version = host.sysctl("kern.osproductversion");
    os.name = version ? "macOS " + sanitise(trim(*version)) : "macOS";
    os.sources["name"] = "sysctl";
  }
  os.sources.try_emplace("name", "no-os-release");
  ContainerMark mark = look_for_container(host);
  os.sources["container"] = std::move(mark.source);
  os.container = std::move(mark.kind);
  os.wsl = is_wsl_kernel(name.release);
  // A custom kernel has another name; this file is registered by WSL itself.
  constexpr const char* interop = "/proc/sys/fs/binfmt_misc/WSLInterop";
  if (!os.wsl && host.accessible(interop, Access::exists)) {
    os.wsl = true;
    os.sources["wsl"] = interop;
  }
  constexpr const char* tegra = "/etc/nv_tegra_release";
  os.tegra_release = parse_tegra_release(host.read_file(tegra, 4096).value_or(""));
  os.sources["tegra_release"] = tegra;
  return os;
}

Libc probe_libc(Host& host) {
  // Of this program; that of an interpreter is queried from the interpreter.
  Libc glibc = parse_glibc_version(host.glibc_version());
  if (!glibc.family.empty()) {
    glibc.sources = {{"family", "confstr"}, {"version", "confstr"}};
    return glibc;
  }
  for (const std::string& name : host.list_folder("/lib")) {
    if (!name.starts_with("ld-musl-") || !name.ends_with(".so.1")) continue;
    const std::string loader = "/lib/" + name;
    Libc musl = parse_musl_banner(host.run_program(loader, std::chrono::seconds(3)).text);
    if (musl.family.empty()) continue;
    musl.sources = {{"family", loader}, {"version", loader}};
    return musl;
  }
  Libc none;
  none.sources = {{"family", "no-loader"}, {"version", "no-loader"}};
  return none;
}

}  // namespace axle::detect
