// docs/doctor.md has a row for every code. AXLE_UPDATE_GOLDEN=1 rewrites the table.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "doctor/finding.h"

namespace {

using namespace axle::doctor;

std::string table() {
  std::string text = "| code | severity | meaning | hint |\n|---|---|---|---|\n";
  for (const FindingCode& row : finding_codes()) {
    text += "| `" + std::string(row.code) + "` | " + std::string(render_level(row.level)) + " | " +
            std::string(row.meaning) + " | " + std::string(row.hint) + " |\n";
  }
  return text;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("docs/doctor.md has every code with its meaning and its fix") {
  const std::string path = AXLE_SOURCE_DIR "/docs/doctor.md";
  std::string page = read(path);
  const std::string heading = "| code | severity |";
  const std::size_t begin = page.find(heading);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = page.find("\n\n", begin) + 1;
  if (std::getenv("AXLE_UPDATE_GOLDEN") != nullptr) {
    page.replace(begin, end - begin, table());
    std::ofstream(path, std::ios::binary) << page;
  }
  page = read(path);
  CHECK_MESSAGE(page.contains(table()),
                "run AXLE_UPDATE_GOLDEN=1 build/release/bin/doctor_test and read the difference");
}

TEST_CASE("findings: codes are unique, errors come first, an unknown code is never silent") {
  std::set<std::string_view> seen;
  for (const FindingCode& row : finding_codes()) {
    INFO(row.code);
    CHECK(seen.insert(row.code).second);
    CHECK_FALSE(row.meaning.empty());
    CHECK_FALSE(row.hint.empty());
  }
  Findings findings;
  findings.add("no-environment", "", "x");
  CHECK_FALSE(findings.has_error());
  findings.add("gpu-masked", "", "y");
  findings.add("files-missing", "demo", "z");
  findings.add("no-such-code", "", "w");
  findings.sort();
  CHECK(findings.has_error());
  CHECK(findings.all()[0].code == "files-missing");
  CHECK(findings.all()[1].code == "no-such-code");
  CHECK(findings.all()[1].level == FindingLevel::error);
  CHECK(findings.all()[2].code == "gpu-masked");
}
