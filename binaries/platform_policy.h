#pragma once
// Which libraries and symbol versions a Linux platform tag promises (PEP 513, 571, 599, 600, 656).
// PEP 600 leaves the list to practice: this is auditwheel's (its manylinux-policy.json), with which
// tests/e2e/registry compares.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axle::binaries {

/// A library of every machine with a glibc of at least 2.`since`.
[[nodiscard]] std::optional<unsigned> system_library_since(std::string_view name);

/// "libc.so", the loader: what musl itself is, and zlib, which musllinux promises.
[[nodiscard]] bool is_musl_library(std::string_view name);

/// Whether a symbol version is one whose age is known: "GLIBC_2.17", "GLIBCXX_3.4.19", "GCC_7.0.0",
/// "ZLIB_1.2.9". Others do not concern the platform.
[[nodiscard]] bool is_platform_version(std::string_view version);

/// The N of the oldest manylinux_2_N whose machines have that symbol version; nullopt: no tag
/// promises it (a private version, one that is newer than the table, or another library's).
[[nodiscard]] std::optional<unsigned> glibc_of_version(std::string_view version);

/// The newest of one library's versions: "GLIBC_2.28" before "GLIBC_2.9". False for two families.
[[nodiscard]] bool is_older_version(std::string_view left, std::string_view right);

/// "GLIBC" of "GLIBC_2.28".
[[nodiscard]] std::string_view version_family(std::string_view version);

/// The oldest N of a manylinux_2_N for the architecture.
[[nodiscard]] unsigned oldest_manylinux(std::string_view architecture);

}  // namespace axle::binaries
