#pragma once
// Detects containers by the files that container managers leave inside. The manager decides how a
// missing device can be added ("start it with --gpus all").

#include <string>
#include <string_view>

#include "detect/host.h"

namespace axle::detect {

struct ContainerMark {
  std::string kind;  ///< "docker", "podman", "kubernetes", "lxc", "apptainer", …; empty: none found
  std::string source;  ///< the file or variable that shows it; "no-mark": none does
  friend bool operator==(const ContainerMark&, const ContainerMark&) = default;
};

/// Kubernetes before the engine that it uses; then the engine's own marks, most specific first.
[[nodiscard]] ContainerMark look_for_container(Host& host);

/// The engine in podman's /run/.containerenv: `engine="podman-4.3.1"` -> "podman"; also "podman" if
/// the file is empty, as tools derived from podman write it.
[[nodiscard]] std::string parse_containerenv(std::string_view text);

/// A container manager's name for itself (systemd's CONTAINER_INTERFACE: `container=` in the
/// environment, /run/systemd/container): one lower-case word of at most 32 characters, or empty.
[[nodiscard]] std::string parse_container_word(std::string_view text);

/// What the paths of /proc/1/cgroup show; empty for none, and always in a cgroup namespace.
[[nodiscard]] std::string parse_container_cgroup(std::string_view text);

}  // namespace axle::detect
