#pragma once
// Vulnerabilities of installed packages, as text and as JSON.

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "wheel/advisory/vulnerability.h"

namespace axle::cli {

struct VulnerablePackage {
  std::string name;
  std::string version;
  std::vector<wheel::Vulnerability> vulnerabilities;
  std::string fix;  ///< a command for a shell; empty: no fixed version is known
};

[[nodiscard]] std::string render_vulnerabilities(const std::vector<VulnerablePackage>& packages);
/// [{package, version, id, aliases, summary, severity, rating, fixed, fix}]
[[nodiscard]] nlohmann::ordered_json vulnerabilities_json(
    const std::vector<VulnerablePackage>& packages);

}  // namespace axle::cli
