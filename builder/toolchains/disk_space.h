#pragma once
// Whether a program failed for want of space, which is not for it to answer for.

#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::builder {

/// Of a program that failed: `said` is what it wrote, `folder` where it wrote files besides the
/// folder for temporary ones; `what` begins the message. Unset: there was space.
[[nodiscard]] std::optional<Error> lack_of_space(std::string_view what, const std::string& folder,
                                                 std::string_view said);

}  // namespace axle::builder
