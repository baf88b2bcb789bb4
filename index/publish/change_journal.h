#pragma once
// What a change of an index in a folder does once it is decided: which file that was written aside
// gets which name, and what goes. A text, one step a line.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::index {

/// Beside "simple", in the folder of an index.
inline constexpr std::string_view change_folder_name = ".axle-change";

struct ChangeStep {
  std::string path;         ///< below the index: "simple/demo/index.json"
  std::string staged = {};  ///< the file in the folder of the change; empty: the path goes

  friend bool operator==(const ChangeStep&, const ChangeStep&) = default;
};

[[nodiscard]] std::string render_change(const std::vector<ChangeStep>& steps);

/// Error: malformed, unless it is what render_change writes: every path is a file of an index or of
/// one of its projects, by names that stay below it. `where`: for the message.
[[nodiscard]] Result<std::vector<ChangeStep>> parse_change(std::string_view text,
                                                           std::string_view where);

}  // namespace axle::index
