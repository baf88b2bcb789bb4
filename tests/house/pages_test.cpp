// The pages for people: their links lead somewhere, and the files that they name are there.
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

namespace fs = std::filesystem;

namespace {

const fs::path root = AXLE_SOURCE_DIR;

std::vector<fs::path> pages() {
  std::vector<fs::path> found = {root / "README.md", root / "CONTRIBUTING.md"};
  for (const auto& entry : fs::directory_iterator(root / "docs")) {
    if (entry.path().extension() == ".md") found.push_back(entry.path());
  }
  return found;
}

/// Without code blocks.
std::vector<std::string> lines_of(const fs::path& page) {
  std::vector<std::string> lines;
  std::ifstream file(page);
  bool code = false;
  for (std::string line; std::getline(file, line);) {
    const bool fence = line.starts_with("```");
    code = code != fence;
    if (!code && !fence) lines.push_back(line);
  }
  return lines;
}

/// "## What each namespace contains" -> "what-each-namespace-contains", as renderers make it.
std::set<std::string> anchors_of(const fs::path& page) {
  std::set<std::string> anchors;
  for (const std::string& line : lines_of(page)) {
    if (!line.starts_with('#')) continue;
    std::string anchor;
    for (const char c : line.substr(std::min(line.find(' ') + 1, line.size()))) {
      if (c == ' ') anchor += '-';
      if (c == '-' || c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0)
        anchor += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    anchors.insert(anchor);
  }
  return anchors;
}

/// The first group of every match in the page.
std::vector<std::string> all_in(const fs::path& page, const char* pattern) {
  std::string text;
  for (const std::string& line : lines_of(page)) text += line + '\n';
  const std::regex expression(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

}  // namespace

TEST_CASE("links of the pages lead somewhere") {
  unsigned links = 0;
  for (const fs::path& page : pages()) {
    for (const std::string& link : all_in(page, R"(\]\(([^)\s]+)\))")) {
      if (link.contains("://")) continue;
      ++links;
      const std::size_t hash = std::min(link.find('#'), link.size());
      const fs::path target = hash == 0 ? page : page.parent_path() / link.substr(0, hash);
      const bool there = fs::exists(target);
      CHECK_MESSAGE(there, page.filename().string(), ": ", link);
      if (there && hash < link.size())
        CHECK_MESSAGE(anchors_of(target).contains(link.substr(hash + 1)), page.filename().string(),
                      ": ", link);
    }
  }
  CHECK(links > 50);
}

TEST_CASE("the files that the pages name are there") {
  unsigned named = 0;
  for (const fs::path& page : pages()) {
    for (const std::string& path : all_in(page, "`([a-z0-9_]+/[A-Za-z0-9_./-]*)`")) {
      const std::string folder = path.substr(0, path.find('/'));
      if (folder == "build" || !fs::is_directory(root / folder)) continue;
      ++named;
      CHECK_MESSAGE(fs::exists(root / path), page.filename().string(), ": ", path);
    }
  }
  CHECK(named > 100);
}
