#include "installer/tree/byte_code_names.h"

#include <fmt/format.h>

namespace axle::installer {

bool is_byte_code_folder(std::string_view path) {
  return path.substr(path.rfind('/') + 1) == byte_code_folder;
}

std::string byte_code_path(std::string_view module, std::string_view tag) {
  const std::size_t name = module.rfind('/') + 1;  // 0 if it is in no folder
  const std::string_view stem = module.substr(name, module.size() - name - 3);
  return fmt::format("{}{}/{}.{}.pyc", module.substr(0, name), byte_code_folder, stem, tag);
}

std::string byte_code_stem(std::string_view name) {
  if (!name.ends_with(".pyc")) return {};
  name.remove_suffix(4);
  const std::size_t level = name.rfind(".opt-");
  if (level != std::string_view::npos) name = name.substr(0, level);
  const std::size_t tag = name.rfind('.');
  return tag == std::string_view::npos ? std::string() : std::string(name.substr(0, tag));
}

}  // namespace axle::installer
