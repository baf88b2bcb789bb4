#pragma once
// The result of every fallible function of the wheel side. The machine side has no errors: there a
// fact is present, absent or present-but-broken (detect/machine.h).

#include <cstdint>
#include <expected>
#include <string>
#include <utility>

namespace axle {

/// A kind exists only because some caller acts on it.
enum class ErrorKind : std::uint8_t {
  not_found,    ///< no such package, file, page or name: a caller may look elsewhere
  unsupported,  ///< well formed, but cannot be used here (exit code 3: nothing fits this
                ///< machine)
  malformed,    ///< violates its format: never retried, never trusted
  mismatch,     ///< two sources that must agree do not: a hash, a size, a label, a RECORD entry
  io,           ///< the system returned an error: network, disk, permission
  conflict,     ///< requirements that cannot all be met
};

/// `message` says what, where (file, URL, line) and why in one sentence without a full stop; `hint`
/// says what to do about it, or is empty.
struct Error {
  ErrorKind kind;
  std::string message;
  std::string hint = {};
};

template <class T>
using Result = std::expected<T, Error>;

[[nodiscard]] inline std::unexpected<Error> fail(ErrorKind kind, std::string message,
                                                 std::string hint = {}) {
  return std::unexpected(Error{kind, std::move(message), std::move(hint)});
}

/// The name of a kind in JSON: "not_found", "malformed", …
[[nodiscard]] const char* render_kind(ErrorKind kind);

/// `error` with `where: ` before its message: adds what only the caller knows.
[[nodiscard]] Error within(std::string where, Error error);

}  // namespace axle
