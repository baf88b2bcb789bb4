#pragma once
// libarchive as a second opinion on zip archives.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axle::wheel::testing {

struct SecondOpinion {
  std::vector<std::pair<std::string, std::string>> members;  ///< name and content, in archive order
  std::string error;                                         ///< empty when all was read
};

[[nodiscard]] SecondOpinion read_with_libarchive(std::string_view bytes);

}  // namespace axle::wheel::testing
