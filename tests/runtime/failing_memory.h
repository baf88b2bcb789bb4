#pragma once
// operator new that fails when a test wants it to. Linked into a test, it takes the place of the
// C++ library's.

#include <cstddef>

namespace axle::runtime::testing {

/// While it lives, and for one at a time.
class FailingMemory {
 public:
  enum class From {
    one,           ///< that allocation alone
    all_later,     ///< and all after it
    other_threads  ///< all of other threads than this one, which waits at its next for theirs
  };

  /// `after` so many allocations that succeed, of any thread.
  FailingMemory(From from, std::size_t after);
  FailingMemory(const FailingMemory&) = delete;
  FailingMemory& operator=(const FailingMemory&) = delete;
  ~FailingMemory();

  /// Of allocations, so far.
  [[nodiscard]] std::size_t failed() const;
  [[nodiscard]] std::size_t succeeded() const;
};

}  // namespace axle::runtime::testing
