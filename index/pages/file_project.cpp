#include "index/pages/file_project.h"

#include <array>

#include "wheel/requirement.h"
#include "wheel/version.h"

namespace axle::index {

bool belongs_to(std::string_view file_name, std::string_view project) {
  const auto first_part_is = [&](std::string_view name) {
    return wheel::normalize_name(name.substr(0, name.find('-'))) == project;
  };
  if (file_name.ends_with(".whl") || file_name.ends_with("-variants.json") ||
      file_name.ends_with(".egg") || file_name.ends_with(".exe")) {
    return first_part_is(file_name);
  }
  static constexpr std::array<std::string_view, 5> endings = {".tar.gz", ".zip", ".tar.bz2", ".tgz",
                                                              ".tar.xz"};
  for (const std::string_view ending : endings) {
    if (!file_name.ends_with(ending)) continue;
    const std::string_view stem = file_name.substr(0, file_name.size() - ending.size());
    for (std::size_t dash = stem.find('-'); dash != std::string_view::npos;
         dash = stem.find('-', dash + 1)) {
      if (wheel::normalize_name(stem.substr(0, dash)) == project &&
          wheel::parse_version(stem.substr(dash + 1))) {
        return true;
      }
    }
  }
  return false;
}

}  // namespace axle::index
