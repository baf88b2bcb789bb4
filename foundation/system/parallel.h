#pragma once
// Work that is done by several threads at once.

#include <cstddef>
#include <functional>

namespace axle::system {

/// Those that this process may use: its affinity mask counts, at least 1.
[[nodiscard]] unsigned usable_processors();

/// Calls `work(i)` once for every i in [0, count), in ascending order of their beginnings, by up to
/// `threads` threads at once, of which the caller is one; returns when all calls have returned.
/// Where the system gives no more threads, fewer do it. The others handle no signals. If calls
/// throw, no further ones begin, and one of the exceptions is thrown again.
void for_each_at_once(std::size_t count, unsigned threads,
                      const std::function<void(std::size_t)>& work);

}  // namespace axle::system
