// What a library includes of others, it names in its CMakeLists.txt. Debian's headers lie where
// every compiler looks, so a build for Debian does not miss the name; the one program and the wheel
// of the plugin, which take these libraries from elsewhere, do.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace fs = std::filesystem;

namespace {

constexpr std::pair<std::string_view, std::string_view> libraries[] = {
    {"#include <fmt/", "fmt::fmt"},
    {"#include <toml++/", "tomlplusplus::tomlplusplus"},
    {"#include <nlohmann/", "nlohmann_json::nlohmann_json"},
    {"#include <simdjson", "simdjson::simdjson"},
    {"#include <CLI/", "CLI11::CLI11"},
};

std::string content_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The arguments of each axle_library() of a CMakeLists.txt; none has parentheses in them.
std::vector<std::string> libraries_of(const fs::path& list) {
  const std::string text = content_of(list);
  const std::string_view call = "\naxle_library(";
  std::vector<std::string> found;
  for (std::size_t at = 0; (at = ("\n" + text).find(call, at)) != std::string::npos;) {
    at += call.size() - 1;
    found.push_back(text.substr(at, text.find(')', at) - at));
  }
  return found;
}

std::string unnamed(std::string_view library, const fs::path& source) {
  const std::string text = content_of(source);
  for (const auto& [include, name] : libraries) {
    if (text.contains(include) && !library.contains(name)) return std::string(name);
  }
  return {};
}

}  // namespace

TEST_CASE("every library names the libraries outside of this tree that it includes") {
  const fs::path root = AXLE_SOURCE_DIR;
  unsigned sources = 0;
  for (const auto& room : fs::directory_iterator(root)) {
    const std::string name = room.path().filename();
    if (!room.is_directory() || name == "build" || name == "tests" || name.starts_with('.'))
      continue;
    for (const auto& entry : fs::recursive_directory_iterator(room.path())) {
      if (entry.path().filename() != "CMakeLists.txt") continue;
      for (const std::string& library : libraries_of(entry.path())) {
        std::istringstream words(library);
        for (std::string word; words >> word;) {
          if (!word.ends_with(".cpp")) continue;
          fs::path source = entry.path().parent_path() / word;
          ++sources;
          INFO(source.string());
          CHECK(unnamed(library, source) == "");
          CHECK(unnamed(library, source.replace_extension(".h")) == "");
        }
      }
    }
  }
  CHECK(sources > 300);
}
