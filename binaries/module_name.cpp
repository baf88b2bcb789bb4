#include "binaries/module_name.h"

#include <cstddef>

namespace axle::binaries {

std::string_view architecture_of_module(std::string_view file_name) {
  constexpr std::string_view mark = ".cpython-";
  const std::size_t at = file_name.rfind(mark);
  if (at == std::string_view::npos || !file_name.ends_with(".so")) return {};
  const std::size_t begin = file_name.find('-', at + mark.size());
  const std::size_t end = file_name.find("-linux-", begin);
  if (begin == std::string_view::npos || end == std::string_view::npos || end == begin) return {};
  return file_name.substr(begin + 1, end - begin - 1);
}

std::string module_name_for(std::string_view file_name, std::string_view architecture) {
  const std::string_view own = architecture_of_module(file_name);
  const auto begin = static_cast<std::size_t>(own.data() - file_name.data());
  return std::string(file_name.substr(0, begin)).append(architecture) +
         std::string(file_name.substr(begin + own.size()));
}

bool names_other_architecture(std::string_view file_name, std::string_view architecture) {
  const std::string_view own = architecture_of_module(file_name);
  const bool judged = architecture == "x86_64" || architecture == "aarch64";
  return judged && !own.empty() && own != architecture;
}

}  // namespace axle::binaries
