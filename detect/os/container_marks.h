#pragma once
// Is this a container, and whose? The marks that container managers leave inside. Which one it is
// decides what a person can do when a device is missing ("start it with --gpus all").

#include <string>
#include <string_view>

#include "detect/host.h"

namespace axle::detect {

struct ContainerMark {
  std::string kind;  ///< "docker", "podman", "kubernetes", "lxc", "apptainer", …; empty: none seen
  std::string source;  ///< the file or variable that says so; "no-mark": none does
  friend bool operator==(const ContainerMark&, const ContainerMark&) = default;
};

/// Kubernetes before the engine that it uses; then the engine's own marks, the most telling first.
[[nodiscard]] ContainerMark look_for_container(Host& host);

/// The engine in podman's /run/.containerenv: `engine="podman-4.3.1"` -> "podman"; "podman" too
/// where the file is empty, as others that follow podman write it.
[[nodiscard]] std::string parse_containerenv(std::string_view text);

/// A container manager's name in its own words (systemd's CONTAINER_INTERFACE: `container=` in the
/// environment, /run/systemd/container): one lower-case word of at most 32 characters, or empty.
[[nodiscard]] std::string parse_container_word(std::string_view text);

/// What the paths of /proc/1/cgroup tell; empty for none, and always so in a cgroup name space.
[[nodiscard]] std::string parse_container_cgroup(std::string_view text);

}  // namespace axle::detect
