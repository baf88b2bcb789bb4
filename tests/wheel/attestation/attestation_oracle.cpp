// Answers attestation_differential.py: a line names the files of a trusted root and a provenance,
// and the name and the sha256 of the attested file, separated by tabs. The answer: "accepted
// <log index>", or "refused <why>".
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>

#include "wheel/attestation/provenance.h"
#include "wheel/attestation/trusted_root.h"
#include "wheel/attestation/verification.h"

namespace wheel = axle::wheel;

namespace {

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string answer(std::istringstream line) {
  std::string root_path;
  std::string provenance_path;
  wheel::AttestedFile file;
  std::getline(line, root_path, '\t');
  std::getline(line, provenance_path, '\t');
  std::getline(line, file.filename, '\t');
  std::getline(line, file.sha256, '\t');
  const auto root = wheel::parse_trusted_root(text_of(root_path), "trusted root");
  if (!root) return "refused " + root.error().message;
  const auto provenance = wheel::parse_provenance(text_of(provenance_path), "provenance");
  if (!provenance) return "refused " + provenance.error().message;
  std::string accepted = "refused there is no attestation";
  for (const wheel::AttestationBundle& bundle : provenance->bundles) {
    for (const wheel::Attestation& attestation : bundle.attestations) {
      const auto verified = wheel::verify_attestation(attestation, bundle.publisher, file, *root);
      if (!verified) return "refused " + verified.error().message;
      accepted = "accepted " + std::to_string(verified->log_index);
    }
  }
  return accepted;
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer(std::istringstream(line)) << std::endl;
}
