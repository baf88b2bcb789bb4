// docs/audit.md has a row for every code. AXLE_UPDATE_GOLDEN=1 rewrites the table.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "doctor/audit/audit_codes.h"

namespace {

using namespace axle::doctor;

std::string code_table() {
  std::string text = "| code | severity | meaning | how to fix it |\n|---|---|---|---|\n";
  for (const FindingCode& row : audit_codes()) {
    text += "| `" + std::string(row.code) + "` | " + std::string(render_level(row.level)) + " | " +
            std::string(row.meaning) + " | " + std::string(row.hint) + " |\n";
  }
  return text;
}

std::string read_page(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("docs/audit.md has every code with its meaning and its fix") {
  const std::string path = AXLE_SOURCE_DIR "/docs/audit.md";
  std::string page = read_page(path);
  const std::size_t begin = page.find("| code | severity |");
  REQUIRE(begin != std::string::npos);
  const std::size_t end = page.find("\n\n", begin) + 1;
  if (std::getenv("AXLE_UPDATE_GOLDEN") != nullptr) {
    page.replace(begin, end - begin, code_table());
    std::ofstream(path, std::ios::binary) << page;
  }
  page = read_page(path);
  CHECK_MESSAGE(page.contains(code_table()),
                "run AXLE_UPDATE_GOLDEN=1 build/release/bin/doctor_test and read the difference");
}

TEST_CASE("audit: codes are unique, and a warning is a fault") {
  std::set<std::string_view> seen;
  for (const FindingCode& row : audit_codes()) {
    INFO(row.code);
    CHECK(seen.insert(row.code).second);
    CHECK_FALSE(row.meaning.empty());
    CHECK_FALSE(row.hint.empty());
  }
  Findings findings(audit_codes());
  findings.add("needs-driver", "demo", "x");
  CHECK_FALSE(findings.has_fault());
  findings.add("rpath-absolute", "demo", "y");
  CHECK(findings.has_fault());
  CHECK_FALSE(findings.has_error());
  findings.sort();
  CHECK(findings.all()[0].code == "rpath-absolute");
}
