// Answers advisory_differential.py: a line is the file of an advisory about "demo" and a version,
// separated by a tab. The answer: "not affected", or "affected" and the fixed versions.
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

#include "wheel/advisory/advisory.h"
#include "wheel/advisory/vulnerability.h"

namespace wheel = axle::wheel;

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const std::size_t tab = line.find('\t');
    std::ifstream file(line.substr(0, tab), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const auto advisories = wheel::parse_advisories(text, "advisory");
    const auto version = wheel::parse_version(line.substr(tab + 1));
    if (!advisories || !version) {
      std::cout << "ERR" << std::endl;
      continue;
    }
    const auto found = wheel::find_vulnerabilities(*advisories, "demo", *version);
    std::string answer = found.empty() ? "not affected" : "affected";
    for (const wheel::Vulnerability& one : found) {
      for (const wheel::Version& fixed : one.fixed) answer += " " + wheel::render_version(fixed);
    }
    std::cout << answer << std::endl;
  }
}
