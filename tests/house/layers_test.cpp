// The walls: which room may include which. docs/architecture.md draws the same
// graph.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>

namespace fs = std::filesystem;

namespace {

using Rooms = std::set<std::string>;

const std::map<std::string, Rooms> allowed = {
    {"report", {}},
    {"detect", {}},
    {"machines", {"detect", "report"}},
    {"providers", {"machines", "detect", "report"}},
    {"runtime", {"detect"}},
    {"wheel", {"report"}},
    {"index", {"wheel", "report"}},
    {"resolver", {"providers", "machines", "detect", "index", "wheel", "report"}},
    {"installer", {"resolver", "index", "wheel", "report"}},
    {"builder", {"providers", "machines", "detect", "index", "wheel", "report"}},
    {"cli",
     {"report", "detect", "machines", "providers", "wheel", "index", "resolver", "installer",
      "builder", "runtime"}},
};

/// The room that `#include "room/…"` names, or "".
std::string included_room(const std::string& line) {
  const std::string start = "#include \"";
  if (!line.starts_with(start)) return {};
  const std::size_t slash = line.find('/', start.size());
  if (slash == std::string::npos) return {};
  return line.substr(start.size(), slash - start.size());
}

}  // namespace

TEST_CASE("every room includes only what the design allows it") {
  const fs::path root = AXLE_SOURCE_DIR;
  unsigned includes = 0;
  for (const auto& [room, rooms] : allowed) {
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
      const std::string extension = entry.path().extension();
      if (extension != ".cpp" && extension != ".h" && extension != ".inc" && extension != ".c")
        continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        const std::string other = included_room(line);
        if (!allowed.contains(other) || other == room) continue;
        ++includes;
        INFO(entry.path().string() << ": " << line);
        CHECK(rooms.contains(other));
      }
    }
  }
  CHECK(includes > 20);
}

TEST_CASE("CLI11 is included by one file, nlohmann by no header") {
  const fs::path root = AXLE_SOURCE_DIR;
  unsigned cli11 = 0;
  for (const auto& [room, rooms] : allowed) {
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        if (line.starts_with("#include <CLI/")) ++cli11;
        INFO(entry.path().string() << ": " << line);
        CHECK_FALSE((entry.path().extension() == ".h" && line == "#include <nlohmann/json.hpp>"));
      }
    }
  }
  CHECK(cli11 == 1);
}
