#include "detect/drivers/loader_cache.h"

#include <algorithm>

namespace axle::detect {
namespace {

constexpr std::size_t longest_path = 4096;

/// The path in a text; empty if it is not one.
std::string_view path_of(std::string_view text) {
  // The first text follows the tables of numbers, whose last byte need not be zero.
  if (!text.starts_with("lib")) text.remove_prefix(std::min(text.find('/'), text.size()));
  const bool printable =
      std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
  const bool fits = text.starts_with('/') && text.size() < longest_path && printable;
  return fits && text.substr(text.rfind('/')).contains(".so") ? text : std::string_view();
}

}  // namespace

std::vector<std::string> paths_in_loader_cache(std::string_view cache) {
  std::vector<std::string> paths;
  // A text without a terminating zero was truncated.
  for (std::size_t end = cache.find('\0'); end != std::string_view::npos; end = cache.find('\0')) {
    if (const std::string_view path = path_of(cache.substr(0, end)); !path.empty())
      paths.emplace_back(path);
    cache.remove_prefix(end + 1);
  }
  return paths;
}

std::vector<std::string> paths_in_loader_cache(std::string_view cache, std::string_view file) {
  // A name may share the end of its path's text.
  const std::string ending = '/' + std::string(file) + '\0';
  std::vector<std::string> paths;
  for (std::size_t at = cache.find(ending); at != std::string_view::npos;
       at = cache.find(ending, at + 1)) {
    const std::size_t before = cache.rfind('\0', at);
    const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view path = path_of(cache.substr(begin, at + ending.size() - 1 - begin));
    if (!path.empty()) paths.emplace_back(path);
  }
  return paths;
}

}  // namespace axle::detect
