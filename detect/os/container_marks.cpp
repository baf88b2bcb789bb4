#include "detect/os/container_marks.h"

#include <algorithm>
#include <array>

namespace axle::detect {
namespace {

constexpr std::size_t longest_word = 32;

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

struct CgroupMark {
  std::string_view part;  ///< of a path in /proc/1/cgroup
  std::string_view kind;
};

constexpr std::array<CgroupMark, 7> cgroup_marks{{
    {"kubepods", "kubernetes"},
    {"libpod", "podman"},
    {"/docker/", "docker"},
    {"docker-", "docker"},
    {"/lxc/", "lxc"},
    {"lxc.payload", "lxc"},
    {"/crio-", "cri-o"},
}};

std::string kind_of(const std::optional<std::string>& text,
                    std::string (*parse)(std::string_view)) {
  return text ? parse(*text) : std::string();
}

}  // namespace

std::string parse_containerenv(std::string_view text) {
  constexpr std::string_view key = "engine=";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    if (line.starts_with('"')) line.remove_prefix(1);
    // The version follows the name.
    const std::string word = parse_container_word(line.substr(0, line.find_first_of("-\"")));
    return word.empty() ? "podman" : word;
  }
  return "podman";
}

std::string parse_container_word(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  while (text.ends_with(' ') || text.ends_with('\r')) text.remove_suffix(1);
  if (text.size() > longest_word || !std::ranges::all_of(text, is_word_character)) return {};
  return std::string(text);
}

std::string parse_container_cgroup(std::string_view text) {
  for (const CgroupMark& mark : cgroup_marks) {
    if (text.find(mark.part) != std::string_view::npos) return std::string(mark.kind);
  }
  return {};
}

ContainerMark look_for_container(Host& host) {
  if (!host.environment("KUBERNETES_SERVICE_HOST").value_or("").empty()) {
    return {"kubernetes", "KUBERNETES_SERVICE_HOST"};
  }
  const std::string cgroup = kind_of(host.read_file("/proc/1/cgroup"), parse_container_cgroup);
  if (cgroup == "kubernetes") return {cgroup, "/proc/1/cgroup"};
  // Mode 0700: only root can read it, everybody can see it.
  if (host.accessible("/run/.containerenv", Access::exists)) {
    const std::string text = host.read_file("/run/.containerenv").value_or("");
    return {parse_containerenv(text), "/run/.containerenv"};
  }
  if (host.accessible("/.dockerenv", Access::exists)) return {"docker", "/.dockerenv"};
  if (host.accessible("/.singularity.d", Access::exists)) return {"apptainer", "/.singularity.d"};
  // systemd under WSL calls that a container too; Os::wsl reports it.
  const std::string manager =
      kind_of(host.read_file("/run/systemd/container"), parse_container_word);
  if (!manager.empty() && manager != "wsl") return {manager, "/run/systemd/container"};
  const std::string stated = kind_of(host.environment("container"), parse_container_word);
  if (!stated.empty() && stated != "wsl") return {stated, "container"};
  if (!cgroup.empty()) return {cgroup, "/proc/1/cgroup"};
  return {"", "no-mark"};
}

}  // namespace axle::detect
