#pragma once
// Reads the files of a project: only inside its folder, bounded, without following links outside.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/wheel_writer.h"

namespace axle::builder {

inline constexpr std::uint64_t largest_text = std::uint64_t{4} << 20;  ///< bytes of a text file
inline constexpr std::uint64_t largest_member = (std::uint64_t{1} << 32) - 2;  ///< of a zip member

/// Errors: not_found, malformed (larger than `limit`), io.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::uint64_t limit);

/// `relative` joined to `folder`. Error: malformed if it is absolute or leaves the folder.
[[nodiscard]] Result<std::string> inside_folder(const std::string& folder,
                                                std::string_view relative);

/// Every file below `folder` as a member `prefix/…`, sorted. Python's caches are skipped. A link to
/// a file of the same tree becomes a copy of it; any other link is malformed.
[[nodiscard]] Result<std::vector<wheel::WheelMember>> read_tree(const std::string& folder,
                                                                const std::string& prefix);

}  // namespace axle::builder
