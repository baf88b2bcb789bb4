// Whether the wheel is one, and what of it could not be read.
#include <fmt/core.h>

#include "doctor/audit/audit_checks.h"

namespace axle::doctor {

void add_evidence(Finding& finding, std::string file, std::string section, std::string fact) {
  if (finding.evidence.size() < most_examples)
    finding.evidence.push_back({std::move(file), std::move(section), std::move(fact)});
}

std::string name_libraries(const std::vector<const AuditedLibrary*>& libraries) {
  if (libraries.size() == 1) return libraries.front()->path;
  return fmt::format("{} libraries", libraries.size());
}

void check_validity(const Audited& audited, Findings& findings) {
  if (!audited.faults.empty()) {
    Finding& finding = findings.add(
        audited.kind == AuditedKind::image ? "image-broken" : "wheel-broken", audited.title,
        audited.faults.size() == 1
            ? audited.faults.front()
            : fmt::format("{} things are wrong with it", audited.faults.size()));
    if (audited.faults.size() > 1) {
      for (const std::string& fault : audited.faults) add_evidence(finding, "", "", fault);
    }
    finding.hint = "build it again, and do not change it afterwards without its RECORD";
    if (audited.kind == AuditedKind::image) finding.hint = "save or pull it again";
  }
  std::size_t unread = 0;
  std::vector<const UnreadLibrary*> damaged;
  for (const UnreadLibrary& one : audited.unread) {
    if (one.damaged) {
      damaged.push_back(&one);
    } else if (++unread <= most_examples) {
      findings.not_looked_at(fmt::format("{}: {}: {}", audited.title, one.path, one.why));
    }
  }
  if (unread > most_examples)
    findings.not_looked_at(fmt::format("{}: {} other files that cannot be read", audited.title,
                                       unread - most_examples));
  if (!damaged.empty()) {
    Finding& finding = findings.add(
        "library-damaged", audited.title,
        fmt::format("{} damaged", damaged.size() == 1
                                      ? damaged.front()->path + " is"
                                      : fmt::format("{} libraries are", damaged.size())));
    for (const UnreadLibrary* one : damaged) add_evidence(finding, one->path, "", one->why);
    finding.hint = "build the wheel again from complete files";
  }
  if (audited.passed_over > 0)
    findings.not_looked_at(fmt::format("{}: {} libraries beyond the first {}", audited.title,
                                       audited.passed_over, audited.libraries.size()));
}

}  // namespace axle::doctor
