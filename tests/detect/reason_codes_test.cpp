// The table of reason codes in docs/detection.md is complete, and says nothing that is not so.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "detect/gpu_vendors.h"

namespace fs = std::filesystem;

namespace {

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// What judges: every file of detect/ that makes a verdict.
std::string verdicts() {
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(AXLE_SOURCE_DIR) / "detect")) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".cpp") continue;
    const std::string room = entry.path().parent_path().filename();
    const bool judges = axle::detect::parse_vendor(room) || room == "npu" || name == "verdict.cpp";
    if (judges) all += content(entry.path());
  }
  return all;
}

std::set<std::string> codes_in_sources() {
  const std::string text = verdicts();
  std::set<std::string> found;
  // A verdict is its code, then its message: Failure{"code", …, {"code", …, blocked("code", … and
  // the rows {4, "code", … of the drivers' codes; or the code alone is set.
  const std::regex verdict(
      R"re((?:Failure(?: \w+)?\{|\{|blocked\(|\{-?\d+,|reason_code =)\s*"([a-z]+(?:-[a-z]+)*)"\s*[,;]\s*)re"
      R"re((?:"|[A-Za-z]|$))re");
  for (std::sregex_iterator at(text.begin(), text.end(), verdict), end; at != end; ++at) {
    found.insert((*at)[1]);
  }
  // Braces that hold other words.
  for (const char* word : {"level-zero", "nvidia", "pci-id-table", "pci-stub", "xe"})
    found.erase(word);
  return found;
}

/// What stands in the place of a source: words with a hyphen, and the instructions and calls that
/// said no.
std::set<std::string> words_of_cpu_and_system() {
  std::string all;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(AXLE_SOURCE_DIR) / "detect")) {
    const std::string room = entry.path().parent_path().filename();
    if (entry.path().extension() != ".cpp") continue;
    const bool about = room == "cpu" || room == "os";
    if (about) all += content(entry.path());
  }
  std::set<std::string> found;
  const std::regex hyphened(R"re("([a-z_]+(?:-[a-z]+)+)")re");
  const std::regex verdict(
      R"re((?:Presence::blocked, |OsVerdict\{Presence::blocked, )"([a-z0-9_]+)")re");
  for (const std::regex& pattern : {hyphened, verdict}) {
    for (std::sregex_iterator at(all.begin(), all.end(), pattern), end; at != end; ++at) {
      found.insert((*at)[1]);
    }
  }
  // Kinds of container.
  for (const char* word : {"cri-o", "ld-musl"}) found.erase(word);
  return found;
}

std::set<std::string> codes_in_page(const char* heading) {
  const std::string page = content(fs::path(AXLE_SOURCE_DIR) / "docs/detection.md");
  const std::size_t begin = page.find(heading);
  const std::size_t end = page.find("\n## ", begin + 1);
  REQUIRE(begin != std::string::npos);
  const std::string table = page.substr(begin, end - begin);
  std::set<std::string> found;
  // Every row has a code, a meaning and a fix.
  const std::regex row(R"re(\n\| `([a-z0-9_-]+)` \| [^|\n]{8,} \| [^|\n]{4,} \|)re");
  for (std::sregex_iterator at(table.begin(), table.end(), row), last; at != last; ++at) {
    found.insert((*at)[1]);
  }
  return found;
}

std::string only_in(const std::set<std::string>& left, const std::set<std::string>& right) {
  std::string words;
  for (const std::string& word : left) {
    if (!right.contains(word)) words += word + ' ';
  }
  return words;
}

}  // namespace

TEST_CASE("docs/detection.md has every reason code of the sources, and no other") {
  const std::set<std::string> sources = codes_in_sources();
  const std::set<std::string> page = codes_in_page("## Reason codes");
  CHECK(sources.size() > 25);
  CHECK(only_in(sources, page) == "");
  CHECK(only_in(page, sources) == "");
}

TEST_CASE("docs/detection.md has every word that stands for a fact that is withheld or not known") {
  const std::set<std::string> sources = words_of_cpu_and_system();
  const std::set<std::string> page = codes_in_page("## The CPU");
  CHECK(sources.size() > 12);
  CHECK(only_in(sources, page) == "");
  CHECK(only_in(page, sources) == "");
}
