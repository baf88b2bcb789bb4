#include "index/publish/removal_command.h"

#include <filesystem>

#include <fmt/format.h>

#include "foundation/system/shell_command.h"

namespace axle::index {

std::string removal_command(const std::string& path) {
  const std::filesystem::path wheel(path);
  return fmt::format("`variant index remove {} --out {}`", shell_word(wheel.filename().string()),
                     shell_word(wheel.parent_path().parent_path().parent_path().string()));
}

}  // namespace axle::index
