#pragma once
// Links to the files of a wheel that an environment had and has no more: whoever installs the wheel
// next takes them with one rename instead of linking each file.
//
//   <store>/wheels/<sha256>/spare/<name>   what was <name> of <store>/wheels/<sha256>/tree in an
//                                          environment, a whole folder, without byte code
//
// It is no part of what the store vouches for: who takes it compares it with the files in `tree`.

#include <functional>
#include <string>
#include <string_view>

namespace axle::installer {

/// Where an entry has them.
[[nodiscard]] std::string spare_folder(const std::string& entry);

/// Moves `folder` to the entry of its wheel, as its `name`. What has that name there, which may fit
/// nobody, comes to `folder` then. Best effort: everything stays where the entry is gone or on
/// another file system.
void keep_spare(const std::string& entry, const std::string& folder, const std::string& name);

/// Moves the folder `name` of the entry with the files `tree` to `path` under the folder
/// `folder_fd`, if it `fits`, which gets it opened. False: it is not there, stays or cannot be
/// moved.
[[nodiscard]] bool take_spare(std::string_view tree, const std::string& name,
                              const std::function<bool(int spare)>& fits, int folder_fd,
                              const std::string& path);

}  // namespace axle::installer
