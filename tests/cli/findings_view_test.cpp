#include "cli/views/findings_view.h"

#include <string>

#include <doctest/doctest.h>

TEST_CASE("findings: what comes from files does not steer a terminal") {
  axle::doctor::Findings findings;
  findings.add("files-missing", "demo", "gone").evidence.push_back({"a\x1b[2Jb", "", "c\nd"});
  const axle::cli::Output output(axle::cli::OutputOptions{});
  const std::string text = axle::cli::render_findings(findings, output);
  CHECK(text.contains("a?[2Jb: c?d"));
}
