// The libraries that the package's own need.
#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "binaries/platform_policy.h"
#include "doctor/audit/audit_checks.h"
#include "doctor/audit/library_owners.h"

namespace axle::doctor {
namespace {

using Users = std::map<std::string, std::vector<const AuditedLibrary*>>;

/// What is needed, and is neither the package's own nor the system's.
Users outside_libraries(const Audited& audited) {
  const OwnNames own(audited);
  Users users;
  for (const AuditedLibrary& library : audited.libraries) {
    for (const std::string& needed : library.facts.needed) {
      if (own.has(needed) || binaries::system_library_since(needed) ||
          binaries::is_musl_library(needed))
        continue;
      users[needed].push_back(&library);
    }
  }
  return users;
}

void say_undeclared(const Audited& audited, const std::string& needed,
                    const std::vector<const AuditedLibrary*>& users, Findings& findings) {
  const std::string owner = owner_of(needed);
  Finding& finding =
      findings.add("library-undeclared", audited.title,
                   fmt::format("{} need{} {}, which nothing that is declared brings",
                               name_libraries(users), users.size() == 1 ? "s" : "", needed));
  for (const AuditedLibrary* user : users) add_evidence(finding, user->path, "DT_NEEDED", needed);
  finding.hint =
      owner.empty()
          ? Hint("put it into the wheel (auditwheel repair), or link it statically")
          : Hint(fmt::format("Requires-Dist: {}, with a run path to it; or put it into the wheel",
                             owner));
}

void say_driver(const Audited& audited, const Users& users, Findings& findings) {
  for (const auto& [needed, libraries] : users) {
    if (!is_driver_library(needed)) continue;
    Finding& finding =
        findings.add("needs-driver", audited.title,
                     fmt::format("{} {} linked with {}: without the driver {} cannot be loaded",
                                 name_libraries(libraries), libraries.size() == 1 ? "is" : "are",
                                 needed, libraries.size() == 1 ? "it" : "they"));
    for (const AuditedLibrary* user : libraries)
      add_evidence(finding, user->path, "DT_NEEDED", needed);
  }
}

void check_cuda_majors(const Audited& audited, Findings& findings) {
  std::map<unsigned, std::pair<const AuditedLibrary*, std::string>> majors;
  for (const AuditedLibrary& library : audited.libraries) {
    for (const std::string& needed : library.facts.needed) {
      if (const unsigned major = cuda_major_of(needed); major != 0)
        majors.try_emplace(major, &library, needed);
    }
  }
  if (majors.size() < 2) return;
  Finding& finding = findings.add("cuda-majors-differ", audited.title,
                                  fmt::format("its libraries need CUDA {} and CUDA {}",
                                              majors.begin()->first, majors.rbegin()->first));
  for (const auto& [major, user] : majors)
    add_evidence(finding, user.first->path, "DT_NEEDED", user.second);
  finding.hint = "build all of them with one major version of CUDA";
}

}  // namespace

Surroundings::Surroundings(const std::vector<Audited>& all) {
  for (const Audited& one : all) {
    if (!one.declaration) continue;
    std::set<std::string>& needs = needs_[one.declaration->name];
    for (const wheel::Requirement& requirement : one.declaration->requirements)
      needs.insert(wheel::normalize_name(requirement.name));
    for (const std::string& path : one.files) {
      const std::string name = path.substr(path.rfind('/') + 1);
      if (name.contains(".so")) owners_[name].insert(one.declaration->name);
    }
    for (const AuditedLibrary& library : one.libraries) {
      if (!library.facts.soname.empty())
        owners_[library.facts.soname].insert(one.declaration->name);
    }
  }
}

std::set<std::string> Surroundings::closure_of(const Audited& package) const {
  std::set<std::string> closure;
  std::vector<std::string> open;
  const auto add = [&](const std::string& name) {
    if (closure.insert(name).second) open.push_back(name);
  };
  for (const wheel::Requirement& requirement : package.declaration->requirements)
    add(wheel::normalize_name(requirement.name));
  while (!open.empty()) {
    const auto known = needs_.find(open.back());
    open.pop_back();
    if (known == needs_.end()) continue;
    for (const std::string& name : known->second) add(name);
  }
  return closure;
}

bool Surroundings::brings(const Audited& package, std::string_view library) const {
  const auto owners = owners_.find(library);
  if (owners == owners_.end() || !package.declaration) return false;
  const std::set<std::string> closure = closure_of(package);
  return std::ranges::any_of(owners->second,
                             [&](const std::string& owner) { return closure.contains(owner); });
}

void check_links(const Audited& audited, const Surroundings& surroundings, Findings& findings) {
  const Users users = outside_libraries(audited);
  say_driver(audited, users, findings);
  check_cuda_majors(audited, findings);
  if (!audited.declaration) return;
  for (const auto& [needed, libraries] : users) {
    if (is_driver_library(needed)) continue;
    if (is_python_library(needed)) {
      Finding& finding = findings.add(
          "links-python", audited.title,
          fmt::format("{} {} linked with {}, which many interpreters do not have",
                      name_libraries(libraries), libraries.size() == 1 ? "is" : "are", needed));
      for (const AuditedLibrary* user : libraries)
        add_evidence(finding, user->path, "DT_NEEDED", needed);
      finding.hint = "do not link extension modules with it: the interpreter has its symbols";
    } else if (!is_declared(needed, audited.declaration->requirements) &&
               !surroundings.brings(audited, needed)) {
      say_undeclared(audited, needed, libraries, findings);
    }
  }
}

}  // namespace axle::doctor
