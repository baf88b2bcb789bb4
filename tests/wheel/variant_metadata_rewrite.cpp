// Answers for our reader and writer of variant metadata in variantlib_differential.py: a document
// per line on stdin; for each one line, the document as we write it, or "refused" and why.
#include <algorithm>
#include <iostream>
#include <string>

#include "wheel/variant/variant_metadata.h"

int main() {
  using namespace axle::wheel;
  std::string line;
  while (std::getline(std::cin, line)) {
    axle::CollectedReport report;
    const auto metadata = parse_variant_metadata(line, "document", report);
    auto answer = metadata ? render_variant_metadata(*metadata, MetadataForm::variantlib)
                           : std::unexpected(metadata.error());
    std::string text = answer ? *answer : "refused " + answer.error().message;
    std::ranges::replace(text, '\n', ' ');
    std::cout << text << std::endl;
  }
  return 0;
}
