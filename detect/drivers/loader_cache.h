#pragma once
// The file that ldconfig(8) writes, which maps library names to files for the dynamic loader.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace axle::detect {

/// Its path, and how much of it is read, in bytes.
inline constexpr std::string_view loader_cache_file = "/etc/ld.so.cache";
inline constexpr std::size_t largest_loader_cache = 4 * 1024 * 1024;

/// The paths of libraries in the file's bytes, in its order. Works for every format of glibc
/// (elf/dl-cache.h): it only relies on texts ending with a zero byte. Anything that is not a
/// printable absolute path of a library (with ".so" in its name) is skipped.
[[nodiscard]] std::vector<std::string> paths_in_loader_cache(std::string_view cache);

/// The ones that end in "/<file>". Finds them without reading all the others: the cache is searched
/// in every run for every vendor's library.
[[nodiscard]] std::vector<std::string> paths_in_loader_cache(std::string_view cache,
                                                             std::string_view file);

}  // namespace axle::detect
