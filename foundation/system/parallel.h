#pragma once
// Work that is done by several threads at once.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace axle::system {

/// Those that this process may use: its affinity mask counts, at least 1.
[[nodiscard]] unsigned usable_processors();

/// How many threads, at least 1 and at most `threads`, so that the first so many of `sizes` are
/// together no more than `most`. With the largest first, none more are ever held at once.
[[nodiscard]] unsigned threads_within(std::span<const std::uint64_t> sizes, unsigned threads,
                                      std::uint64_t most);

/// Calls `work(i)` once for every i in [0, count), in ascending order of their beginnings, by up to
/// `threads` threads at once, of which the caller is one; returns when all calls have returned.
/// Where the system gives no more threads, fewer do it. The others handle no signals. If calls
/// throw, no further ones begin, and one of the exceptions is thrown again.
void for_each_at_once(std::size_t count, unsigned threads,
                      const std::function<void(std::size_t)>& work);

}  // namespace axle::system
