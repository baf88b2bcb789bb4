#pragma once
// What is wrong, in the words of an axle_error.

#include "runtime/axle_runtime.h"

namespace axle::runtime {

/// Before a call does anything: what an earlier one left in `error` (which may be null) is gone.
void clear_failure(axle_error* error);

/// Fills `error` (which may be null) and returns `status`. `format` as printf has it. Messages
/// begin with the file that they are about: of what does not fit, the middle of its path is left
/// out first. What is no printable UTF-8 is shown as "?".
[[gnu::format(printf, 3, 4)]] axle_status report_failure(axle_error* error, axle_status status,
                                                         const char* format, ...);

}  // namespace axle::runtime
