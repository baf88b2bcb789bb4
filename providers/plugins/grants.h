#pragma once
// The one table of exceptions to the sandbox: per namespace the probes that published plugins run,
// the device nodes that drivers open for writing, and what lies outside of the system's folders. To
// the nodes come those that the user grants with their trust, for hardware that Axle does not know.
// `variant providers show` prints all. They count only where Landlock can limit them.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "providers/plugins/sandbox.h"

namespace axle::plugins {

struct NamespaceGrants {
  std::string_view ns;
  std::span<const std::string_view> programs;  ///< names, looked for in `program_folders`
  std::span<const std::string_view> devices;   ///< patterns of glob(7)
  std::span<const std::string_view> readable;  ///< patterns of glob(7)
  /// Variables whose value is a folder that may be read: "ROCM_PATH".
  std::span<const std::string_view> folder_variables;
  /// Further variables that the plugin sees, with those of `passed_variables`.
  std::span<const std::string_view> variables;
};

[[nodiscard]] std::span<const NamespaceGrants> grants_table();
/// nullptr: none.
[[nodiscard]] const NamespaceGrants* grants_of(std::string_view ns);

/// Every variable that the plugin of `ns` may see: the device masks of all vendors and what is
/// documented for its namespace.
[[nodiscard]] std::vector<std::string_view> passed_variables(std::string_view ns);

/// PATH of every plugin, and where probes are looked for.
inline constexpr std::string_view program_folders =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/rocm/bin";

/// A pattern of glob(7) that a user may grant: below /dev, its first name not left open.
[[nodiscard]] bool is_device_pattern(std::string_view text);
/// The nodes that `patterns` mean on this machine: character devices, no terminals, nothing of the
/// kernel's memory.
[[nodiscard]] std::vector<std::string> device_nodes(std::span<const std::string> patterns);

/// What the table means on this machine for a plugin of `ns` that sees `environment`.
[[nodiscard]] Grants granted_to(std::string_view ns,
                                std::span<const std::pair<std::string, std::string>> environment);

}  // namespace axle::plugins
