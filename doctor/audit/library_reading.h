#pragma once
// One library of an audit, from its bytes.

#include <string>
#include <string_view>
#include <variant>

#include "doctor/audit/audited.h"
#include "foundation/report/error.h"

namespace axle::doctor {

/// The largest file that is taken into memory, in bytes: a library beyond cannot be audited.
inline constexpr std::uint64_t largest_audited_library = 8ULL << 30;
/// Of one package or image; the rest is not read, which is told.
inline constexpr std::size_t most_audited_libraries = 20'000;

using ReadLibrary = std::variant<AuditedLibrary, UnreadLibrary>;

/// `bytes`: the whole file, which begins like an ELF file. `threads`: for its code.
[[nodiscard]] ReadLibrary read_audited_library(std::string path, std::string_view bytes,
                                               unsigned threads);

/// Adds it to what was found.
void add_library(Audited& audited, ReadLibrary library);
/// In the order of their paths.
void sort_libraries(Audited& audited);

/// One that gave this error.
[[nodiscard]] UnreadLibrary unread_library(std::string path, const Error& error);

/// One that is larger than that.
[[nodiscard]] UnreadLibrary too_large_library(std::string path, std::uint64_t size);

}  // namespace axle::doctor
