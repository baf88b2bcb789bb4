#include "doctor/audit/audited.h"

#include "detect/machine.h"

namespace axle::doctor {

detect::Arch AuditedLibrary::arch() const {
  for (const detect::Arch arch : {detect::Arch::x86_64, detect::Arch::aarch64}) {
    if (facts.architecture == detect::render_arch(arch)) return arch;
  }
  return detect::Arch::other;
}

bool AuditedLibrary::is_dispatched() const {
  return facts.names_cpu_question || (code && code->asks_cpu) || binaries::is_chosen_by_cpu(path);
}

OwnNames::OwnNames(const Audited& audited) {
  for (const std::string& path : audited.files)
    names_.insert(std::string_view(path).substr(path.rfind('/') + 1));
  for (const AuditedLibrary& library : audited.libraries) {
    if (!library.facts.soname.empty()) names_.insert(library.facts.soname);
  }
}

}  // namespace axle::doctor
