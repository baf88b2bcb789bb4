#pragma once
// The file that ldconfig(8) writes: where the dynamic loader finds libraries by name.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace axle::detect {

/// Where it lies, and the most of it that is read, in bytes.
inline constexpr std::string_view loader_cache_file = "/etc/ld.so.cache";
inline constexpr std::size_t largest_loader_cache = 4 * 1024 * 1024;

/// The paths of libraries in its bytes, in its order. Any format of glibc's will do
/// (elf/dl-cache.h): all that is asked of it is that texts end with a zero byte. What is no
/// printable absolute path of a library (".so" is in its name) is skipped.
[[nodiscard]] std::vector<std::string> paths_in_loader_cache(std::string_view cache);

/// Of these, the ones that end in "/<file>". Finds them without reading all the others: the cache
/// is asked in every run for every vendor's library.
[[nodiscard]] std::vector<std::string> paths_in_loader_cache(std::string_view cache,
                                                             std::string_view file);

}  // namespace axle::detect
