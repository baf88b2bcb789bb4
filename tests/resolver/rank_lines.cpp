// Plumbing of variantlib_order.py: reads variant metadata, one document a line, and prints the
// labels that are compatible with a machine of which nothing is known, best first, one release a
// line.

#include <iostream>
#include <string>

#include "foundation/report/report.h"
#include "resolver/choice/provider_algorithm.h"
#include "resolver/choice/ranking.h"
#include "wheel/variant/variant_metadata.h"

int main() {
  axle::CollectedReport report;
  const axle::detect::Machine machine;
  for (std::string line; std::getline(std::cin, line);) {
    const auto metadata = axle::wheel::parse_variant_metadata(line, "standard input", report);
    if (!metadata) {
      std::cerr << metadata.error().message << '\n' << line << '\n';
      return 1;
    }
    const auto supported = axle::resolver::supported_lists(*metadata, machine, {}, {}, report);
    const auto ranking = axle::resolver::rank_variants(*metadata, supported.lists);
    for (std::size_t i = 0; i < ranking.ranked.size(); ++i) {
      std::cout << (i == 0 ? "" : " ") << ranking.ranked[i].label;
    }
    std::cout << '\n';
  }
  return 0;
}
