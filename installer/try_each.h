#pragma once
// Work of several threads that may fail.

#include <cstddef>
#include <functional>

#include "foundation/report/error.h"

namespace axle::installer {

/// system::for_each_at_once with as many threads as there are processors. After the first error no
/// further calls begin, and it is returned.
[[nodiscard]] Result<void> try_each(std::size_t count,
                                    const std::function<Result<void>(std::size_t)>& work);

}  // namespace axle::installer
