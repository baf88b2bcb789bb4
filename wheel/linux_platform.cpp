#include "wheel/linux_platform.h"

#include <charconv>

namespace axle::wheel {

namespace {

constexpr std::pair<std::string_view, std::pair<unsigned, unsigned>> old_names[] = {
    {"manylinux1_", {2, 5}}, {"manylinux2010_", {2, 12}}, {"manylinux2014_", {2, 17}}};

}  // namespace

std::optional<LinuxPlatform> parse_linux_platform(std::string_view platform) {
  for (const auto& [name, version] : old_names) {
    if (platform.starts_with(name) && platform.size() > name.size())
      return LinuxPlatform{"glibc", version, std::string(platform.substr(name.size()))};
  }
  const bool glibc = platform.starts_with("manylinux_");
  if (!glibc && !platform.starts_with("musllinux_")) return std::nullopt;
  std::string_view rest = platform.substr(platform.find('_') + 1);
  const auto number = [&](unsigned& value) {
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc() || end == rest.data() + rest.size() || *end != '_') return false;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
    return true;
  };
  std::pair<unsigned, unsigned> version;
  if (!number(version.first) || !number(version.second) || rest.empty()) return std::nullopt;
  return LinuxPlatform{glibc ? "glibc" : "musl", version, std::string(rest)};
}

std::string with_old_name(std::string_view platform) {
  std::string both(platform);
  const auto parsed = parse_linux_platform(platform);
  if (!parsed || !platform.starts_with("manylinux_")) return both;
  for (const auto& [name, version] : old_names) {
    // A digit is less than an underscore.
    if (version == parsed->version) both.insert(0, std::string(name) + parsed->architecture + ".");
  }
  return both;
}

}  // namespace axle::wheel
