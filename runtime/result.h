#pragma once
// What can go wrong in the rooms above the kernels (files, tokenizer, model): they use the C++
// library, the core below them does not.

#include <cstdint>
#include <expected>
#include <string>

#include "runtime/axle_runtime.h"

namespace axle::runtime {

/// `message` is English and says what is wrong, in which file (and tensor, token or key), and what
/// to do about it.
struct Failure {
  axle_status status = AXLE_BAD_ARGUMENT;
  std::string message;
};

template <class T>
using Result = std::expected<T, Failure>;

/// What `work` gives, also where the C++ library throws: for threads of a pool, which an exception
/// would end the process from. It throws where there is no memory; the message is then too short to
/// need some.
template <class Work>
Result<void> caught(Work work) noexcept {
  try {
    return work();
  } catch (...) {
    return std::unexpected(Failure{AXLE_NO_MEMORY, "out of memory"});
  }
}

/// `format` as printf has it. Names that a file gives may go in as they are: what is no printable
/// UTF-8 is shown as "?", and of a message beyond 1000 bytes the middle is left out.
[[gnu::format(printf, 2, 3)]] std::unexpected<Failure> failure(axle_status status,
                                                               const char* format, ...);

/// For %llu.
constexpr unsigned long long wide(std::uint64_t number) { return number; }

}  // namespace axle::runtime
