#pragma once
// Which library files may be loaded: loading one runs its constructors with the rights of the
// process.

#include <cstdint>
#include <string>
#include <string_view>

namespace axle::detect {

/// The rights of this process. `elevated`: the kernel gave it more rights than its user has
/// (AT_SECURE: setuid, file capabilities), so nothing that its environment names may be loaded.
enum class Privilege : std::uint8_t { user, root, elevated };

[[nodiscard]] Privilege own_privilege();

/// Whether files of `user` may be root's: root's own, and in a user namespace that does not map
/// every user also those of the overflow user.
[[nodiscard]] bool may_be_root(std::uint32_t user);

/// Why the file may not be loaded; empty if it may. A user may load anything; root and elevated
/// programs only what no other user can write: file and folder belong to root (`may_be_root`) or to
/// the effective user, and neither is world-writable.
[[nodiscard]] std::string refuse_file(const std::string& path, Privilege privilege);

}  // namespace axle::detect
