#pragma once
// The only table of exceptions to the sandbox: per namespace the probes that published plugins run,
// the device nodes that drivers open for writing, and paths outside of the system's folders. The
// user can grant further nodes together with trust, for hardware that Axle does not know. `variant
// providers show` prints all. They only apply if Landlock can enforce them.

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
  /// Further variables that the plugin may see, in addition to `passed_variables`.
  std::span<const std::string_view> variables;
};

[[nodiscard]] std::span<const NamespaceGrants> grants_table();
/// nullptr: none.
[[nodiscard]] const NamespaceGrants* grants_of(std::string_view ns);

/// Every variable that the plugin of `ns` may see: the device masks of all vendors and the ones
/// documented for its namespace.
[[nodiscard]] std::vector<std::string_view> passed_variables(std::string_view ns);

/// PATH of every plugin, where probes are searched.
inline constexpr std::string_view program_folders =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/opt/rocm/bin";

/// A glob(7) pattern that a user may grant: below /dev, with a fixed first component.
[[nodiscard]] bool is_device_pattern(std::string_view text);
/// The nodes that match `patterns` on this machine: character devices, no terminals, no kernel
/// memory.
[[nodiscard]] std::vector<std::string> device_nodes(std::span<const std::string> patterns);

/// The exceptions on this machine for a plugin of `ns` with `environment`.
[[nodiscard]] Grants granted_to(std::string_view ns,
                                std::span<const std::pair<std::string, std::string>> environment);

}  // namespace axle::plugins
