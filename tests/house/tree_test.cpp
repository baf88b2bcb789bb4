// Names, sizes and manners: no dumping grounds, libraries that neither print nor exit nor read the
// environment.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace fs = std::filesystem;

namespace {

const std::vector<std::string> libraries = {"foundation", "detect",    "machines", "providers",
                                            "binaries",   "wheel",     "index",    "plan",
                                            "resolver",   "installer", "builder",  "runtime"};
const std::vector<std::string> all_rooms = {
    "foundation", "detect",    "machines", "providers", "binaries", "wheel",   "index", "plan",
    "resolver",   "installer", "session",  "builder",   "doctor",   "runtime", "cli"};

const std::set<std::string> test_kinds = {".cpp", ".h", ".c", ".py", ".sh"};

std::vector<fs::path> sources(const std::vector<std::string>& folders,
                              const std::set<std::string>& kinds = {".cpp", ".h"}) {
  std::vector<fs::path> found;
  for (const std::string& folder : folders) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(AXLE_SOURCE_DIR) / folder)) {
      // What vendors start from is a project of its own, with a test that prints.
      if (entry.path().string().find("/sdk/templates/") != std::string::npos) continue;
      const std::string extension = entry.path().extension();
      if (kinds.contains(extension)) found.push_back(entry.path());
    }
  }
  return found;
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What the build of tests/ must say for this file to be a test; empty: it is not one.
std::string build_line(const fs::path& file) {
  const std::string name = file.filename();
  const std::string folder = *file.begin();
  if (folder == "e2e" && name.ends_with("_test.py"))
    return "axle_e2e(" + file.string().substr(4, file.string().size() - 4 - 8);
  if (folder == "fuzz" && file.extension() == ".cpp" && std::ranges::distance(file) == 3)
    return "axle_fuzz(" + fs::path(file).replace_extension().string().substr(5);
  return name.ends_with("_test.cpp") || name.ends_with("_test.py") ? name : "";
}

/// As a whole word.
bool names(const std::string& text, const std::string& word) {
  const std::string ends = " \n()/\"";
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if (ends.contains(text[at == 0 ? 0 : at - 1]) && ends.contains(text[end])) return true;
  }
  return false;
}

bool is_code(const std::string& line) {
  const std::size_t first = line.find_first_not_of(' ');
  return first != std::string::npos && line.compare(first, 2, "//") != 0;
}

}  // namespace

TEST_CASE("no file has a name that says nothing") {
  const std::set<std::string> empty_names = {"util",   "utils", "helper", "helpers",
                                             "common", "base",  "misc",   "manager"};
  for (const fs::path& path : sources(all_rooms)) {
    INFO(path.string());
    CHECK_FALSE(empty_names.contains(path.stem().string()));
  }
}

TEST_CASE("libraries do not print, exit or read the environment") {
  // The real host is where the environment of the machine side comes from (visible-device masks),
  // and the probe children ask it what CUDA and the loader of that same process ask. properties.cpp
  // is not a library but the program of the Python plugin.
  const std::set<std::string> real_host = {"detect/real_host.cpp", "detect/nvidia/libraries.cpp",
                                           "detect/drivers/driver_libraries.cpp",
                                           "providers/python/properties.cpp"};
  const std::vector<std::string> calls = {"std::cout",  "std::cerr", "printf(", "std::puts",
                                          "std::exit(", "::exit(",   "getenv("};
  for (const fs::path& path : sources(libraries)) {
    if (real_host.contains(fs::relative(path, AXLE_SOURCE_DIR).string())) continue;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      if (!is_code(line) || line.find("snprintf(") != std::string::npos) continue;
      for (const std::string& call : calls) {
        INFO(path.string() << ": " << line);
        CHECK(line.find(call) == std::string::npos);
      }
    }
  }
}

TEST_CASE("sources stay small enough to hold in the head") {
  std::vector<fs::path> all = sources(all_rooms);
  std::ranges::copy(sources({"tests"}, test_kinds), std::back_inserter(all));
  for (const fs::path& path : all) {
    std::ifstream file(path);
    unsigned lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    INFO(path.string() << " has " << lines << " lines");
    CHECK(lines <= 500);
  }
}

TEST_CASE("no folder of sources has over 40 files") {
  std::map<fs::path, unsigned> files;
  for (const fs::path& path : sources(all_rooms)) ++files[path.parent_path()];
  for (const fs::path& path : sources({"tests"}, test_kinds)) {
    ++files[path.parent_path()];
  }
  CHECK(files.size() > all_rooms.size());
  for (const auto& [folder, count] : files) {
    INFO(folder.string());
    CHECK(count <= 40);
  }
}

TEST_CASE("no binary lies in the tree, tests make what they need") {
  const std::set<std::string> not_ours = {".git", "build", "__pycache__"};
  unsigned files = 0;
  for (auto each = fs::recursive_directory_iterator(AXLE_SOURCE_DIR);
       each != fs::recursive_directory_iterator(); ++each) {
    if (not_ours.contains(each->path().filename().string())) {
      each.disable_recursion_pending();
      continue;
    }
    if (!each->is_regular_file()) continue;
    ++files;
    INFO(each->path().string());
    CHECK_FALSE(content(each->path()).contains('\0'));
  }
  CHECK(files > 500);
}

TEST_CASE("every test is part of the build") {
  const fs::path tests = fs::path(AXLE_SOURCE_DIR) / "tests";
  std::string build = "\n";
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(tests)) {
    const fs::path file = entry.path();
    if (file.filename() == "CMakeLists.txt" || file.extension() == ".cmake" ||
        file.extension() == ".sh")
      build += content(file);
    if (entry.is_regular_file()) files.push_back(file.lexically_relative(tests));
  }
  build += "\n";
  unsigned found = 0;
  for (const fs::path& file : files) {
    const std::string line = build_line(file);
    if (line.empty()) continue;
    ++found;
    CHECK_MESSAGE(names(build, line), file.string(), ": no CMakeLists.txt of tests/ says ", line);
  }
  CHECK(found > 200);
}
