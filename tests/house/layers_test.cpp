// The walls: which room may include which. docs/architecture.md draws the same
// graph.
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace fs = std::filesystem;

namespace {

using Rooms = std::set<std::string>;

const std::map<std::string, Rooms> allowed = {
    {"foundation/linked", {}},
    {"foundation/report", {}},
    {"foundation/system", {}},
    {"foundation/text", {}},
    {"foundation/documents", {"foundation/text", "foundation/report"}},
    {"foundation/elf", {}},
    {"detect", {"foundation/elf", "foundation/system"}},
    {"machines",
     {"detect", "foundation/documents", "foundation/text", "foundation/system",
      "foundation/report"}},
    {"providers", {"machines", "detect", "foundation/report"}},
    {"providers/plugins",
     {"providers", "machines", "detect", "foundation/documents", "foundation/elf",
      "foundation/text", "foundation/system", "foundation/report"}},
    {"runtime", {"detect"}},
    {"wheel", {"foundation/documents", "foundation/text", "foundation/report"}},
    {"index",
     {"wheel", "foundation/documents", "foundation/text", "foundation/system",
      "foundation/report"}},
    {"binaries",
     {"foundation/elf", "foundation/system", "foundation/text", "detect", "providers", "wheel",
      "foundation/report"}},
    {"plan", {"wheel", "foundation/report"}},
    {"plan/lock",
     {"plan", "index", "wheel", "foundation/documents", "foundation/text", "foundation/report"}},
    {"resolver",
     {"plan", "providers", "machines", "detect", "index", "wheel", "foundation/text",
      "foundation/system", "foundation/report"}},
    {"installer",
     {"plan", "index", "wheel", "foundation/text", "foundation/system", "foundation/report"}},
    {"builder",
     {"binaries", "foundation/elf", "providers", "machines", "detect", "index", "wheel",
      "foundation/documents", "foundation/text", "foundation/system", "foundation/report"}},
    {"session",
     {"resolver", "installer", "plan", "plan/lock", "providers/plugins", "providers", "machines",
      "detect", "index", "wheel", "foundation/documents", "foundation/text", "foundation/system",
      "foundation/report"}},
    {"doctor",
     {"binaries", "foundation/elf", "session", "resolver", "installer", "plan", "plan/lock",
      "providers/plugins", "providers", "machines", "detect", "index", "wheel",
      "foundation/documents", "foundation/text", "foundation/system", "foundation/report"}},
    {"cli",
     {"doctor", "session", "builder", "binaries", "resolver", "installer", "plan", "plan/lock",
      "providers/plugins", "providers", "machines", "detect", "index", "wheel", "runtime",
      "foundation/documents", "foundation/text", "foundation/system", "foundation/report"}},
};

/// The room of a file, or "": foundation's folders and the plugin host are rooms of their own.
std::string room_of(std::string_view path) {
  std::string found;
  for (const auto& [room, rooms] : allowed) {
    const bool inside = path.starts_with(room) && path.substr(room.size()).starts_with('/');
    if (inside && room.size() > found.size()) found = room;
  }
  return found;
}

/// The room that `#include "room/…"` names.
std::string included_room(const std::string& line) {
  const std::string start = "#include \"";
  return line.starts_with(start) ? room_of(std::string_view(line).substr(start.size())) : "";
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
      if (room_of(fs::relative(entry.path(), root).string()) != room) continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);) {
        const std::string other = included_room(line);
        if (other.empty() || other == room) continue;
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
