#pragma once
// Which projects the data files of this program name, without parsing the files.

#include <algorithm>
#include <string_view>
#include <vector>

namespace axle::index {

/// What is between quotation marks in some TOML files: projects are, and little else.
class QuotedTexts {
 public:
  /// `files`: each with a member `toml`, a text that outlives this.
  template <class Files>
  explicit QuotedTexts(const Files& files) {
    for (const auto& file : files) add(file.toml);
    std::ranges::sort(texts_);
  }

  [[nodiscard]] bool contains(std::string_view text) const {
    return std::ranges::binary_search(texts_, text);
  }

 private:
  void add(std::string_view toml) {
    // From each mark to the next one: what is between two texts is no project.
    std::size_t begin = toml.find('"');
    while (begin != std::string_view::npos) {
      const std::size_t end = toml.find('"', begin + 1);
      texts_.push_back(toml.substr(begin + 1, end - begin - 1));
      begin = end;
    }
  }

  std::vector<std::string_view> texts_;  ///< sorted
};

}  // namespace axle::index
