#pragma once
// The checks of an audit, independent of each other: what is declared against what was found.

#include <map>
#include <set>
#include <string>
#include <vector>

#include "detect/machine.h"
#include "doctor/audit/audited.h"
#include "doctor/finding.h"
#include "doctor/judged_machine.h"

namespace axle::doctor {

/// The other packages of an environment or of a folder of wheels.
class Surroundings {
 public:
  explicit Surroundings(const std::vector<Audited>& all);
  /// A package that this one requires, directly or not, brings the library.
  [[nodiscard]] bool brings(const Audited& package, std::string_view library) const;

 private:
  [[nodiscard]] std::set<std::string> closure_of(const Audited& package) const;

  std::map<std::string, std::set<std::string>, std::less<>> owners_;  ///< of libraries
  std::map<std::string, std::set<std::string>, std::less<>> needs_;   ///< of packages
};

/// Faults of the wheel, and files that could not be read (validity_checks.cpp).
void check_validity(const Audited& audited, Findings& findings);
/// Platform tags, C library and C++ runtime (platform_checks.cpp).
void check_platform(const Audited& audited, Findings& findings);
/// Libraries that others need (link_checks.cpp).
void check_links(const Audited& audited, const Surroundings& surroundings, Findings& findings);
/// Stack, relocations, run paths (loading_checks.cpp).
void check_loading(const Audited& audited, Findings& findings);
/// Python tags, the stable ABI, torch (abi_checks.cpp).
void check_abi(const Audited& audited, Findings& findings);
/// Instructions and GPU code against the declared properties (declared_code_checks.cpp).
void check_declared_code(const Audited& audited, Findings& findings);
/// Libraries that an image has twice, and what its layers hide (image_checks.cpp).
void check_image(const Audited& image, Findings& findings);
/// All of it against a machine (fleet_checks.cpp).
void check_on_machine(const Audited& audited, const std::string& name, const JudgedMachine& machine,
                      Findings& findings);

/// Evidence is limited, as of doctor.
void add_evidence(Finding& finding, std::string file, std::string section, std::string fact);
/// "3 of its libraries" or the path of the only one.
[[nodiscard]] std::string name_libraries(const std::vector<const AuditedLibrary*>& libraries);

}  // namespace axle::doctor
