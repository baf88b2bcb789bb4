// docs/doctor.md has a row for every code. AXLE_UPDATE_GOLDEN=1 rewrites the table.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include "cli/doctor/finding.h"
#include "report/shell_command.h"

namespace {

using namespace axle::cli;
using axle::shell_word;

std::string table() {
  std::string text = "| code | severity | meaning | mend |\n|---|---|---|---|\n";
  for (const FindingCode& row : finding_codes()) {
    text += "| `" + std::string(row.code) + "` | " + std::string(render_level(row.level)) + " | " +
            std::string(row.meaning) + " | " + std::string(row.mend) + " |\n";
  }
  return text;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("docs/doctor.md has every code with its meaning and its mend") {
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
                "run AXLE_UPDATE_GOLDEN=1 ./dev test and read the difference");
}

TEST_CASE("findings: what comes from files steers neither a shell nor a terminal") {
  CHECK(shell_word("/srv/venv-3.12") == "/srv/venv-3.12");
  CHECK(shell_word("base>=2") == "'base>=2'");
  CHECK(shell_word("a'b") == "'a'\\''b'");
  CHECK(shell_word("") == "''");
  Findings findings;
  findings.add("files-missing", "demo", "gone").evidence.push_back({"a\x1b[2Jb", "", "c\nd"});
  const Output output(OutputOptions{});
  const std::string text = render_findings(findings, output);
  CHECK(text.contains("a?[2Jb: c?d"));
}

TEST_CASE("findings: codes are unique, errors come first, an unknown code is never silent") {
  std::set<std::string_view> seen;
  for (const FindingCode& row : finding_codes()) {
    INFO(row.code);
    CHECK(seen.insert(row.code).second);
    CHECK_FALSE(row.meaning.empty());
    CHECK_FALSE(row.mend.empty());
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
