// What extension modules need of Python and of torch, against what the wheel says.
#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "binaries/abi_match.h"
#include "binaries/linkage.h"
#include "doctor/audit/audit_checks.h"
#include "doctor/audit/release_needs.h"

namespace axle::doctor {
namespace {

constexpr std::size_t longest_symbol = 160;  ///< C++ has names of kilobytes

/// A tag under which an interpreter of that ABI installs the wheel, as "cp311".
bool accepts(const wheel::Tag& tag, const std::string& abi) {
  const std::string python = abi.substr(0, abi.find_last_of("0123456789") + 1);
  // PyPy's own tag names its ABI, too: pp311-pypy311_pp73.
  if (abi.starts_with("pp")) return tag.python == abi;
  return tag.abi == abi || (tag.abi == "none" && tag.python == python);
}

/// Wheels that carry modules for several Pythons choose among them, and are tagged for all.
void check_python_tags(const Audited& audited, Findings& findings) {
  std::set<std::string> pythons;
  std::vector<const AuditedLibrary*> misfits;
  for (const AuditedLibrary& library : audited.libraries) {
    const std::string own = python_of_name(library.name());
    if (own.empty() || own == "abi3" || library.linkage.modules.empty()) continue;
    pythons.insert(own);
    const auto& tags = audited.declaration->tags;
    if (std::ranges::none_of(tags, [&](const wheel::Tag& tag) { return accepts(tag, own); }))
      misfits.push_back(&library);
  }
  if (misfits.empty() || (pythons.size() > 1 && misfits.size() < audited.libraries.size() &&
                          pythons.size() > audited.declaration->tags.size()))
    return;
  std::set<std::string> tags;
  for (const wheel::Tag& tag : audited.declaration->tags)
    tags.insert(fmt::format("{}-{}", tag.python, tag.abi));
  Finding& finding =
      findings.add("python-tag-differs", audited.title,
                   fmt::format("{} {} for {}, and the wheel is tagged {}", name_libraries(misfits),
                               misfits.size() == 1 ? "is" : "are",
                               python_of_name(misfits.front()->name()), fmt::join(tags, ".")));
  for (const AuditedLibrary* library : misfits)
    add_evidence(finding, library->path, "", python_of_name(library->name()));
  finding.hint = "build the wheel with the Python of its tag, or change the tag";
}

void check_module_names(const Audited& audited, Findings& findings) {
  std::vector<const AuditedLibrary*> misnamed;
  for (const AuditedLibrary& library : audited.libraries) {
    if (!library.linkage.modules.empty() &&
        binaries::names_other_architecture(library.name(), library.facts.architecture))
      misnamed.push_back(&library);
  }
  if (misnamed.empty()) return;
  const AuditedLibrary& first = *misnamed.front();
  Finding& finding = findings.add(
      "module-name-differs", audited.title,
      fmt::format(
          "{} {} code for {}, and {} for {}: Python does not import {}", name_libraries(misnamed),
          misnamed.size() == 1 ? "has" : "have", first.facts.architecture,
          misnamed.size() == 1 ? "its name is" : "their names are",
          binaries::architecture_of_module(first.name()), misnamed.size() == 1 ? "it" : "them"));
  for (const AuditedLibrary* library : misnamed) {
    add_evidence(finding, library->path, "",
                 binaries::module_name_for(library->name(), library->facts.architecture));
  }
  finding.hint =
      "rename " + std::string(misnamed.size() == 1 ? "it" : "each") + " to " +
      (misnamed.size() == 1 ? binaries::module_name_for(first.name(), first.facts.architecture)
                            : std::string("what the evidence says"));
}

/// The symbols of a module that a Python 3.`oldest` with the stable ABI need not have.
std::vector<std::string> outside_stable_abi(const AuditedLibrary& library, unsigned oldest) {
  std::vector<std::string> outside;
  for (const std::string& symbol : library.linkage.python) {
    const auto since = stable_since(symbol);
    if (!since) outside.push_back(symbol + ": not in the stable ABI");
    if (since && *since > oldest) outside.push_back(fmt::format("{}: since 3.{}", symbol, *since));
  }
  return outside;
}

void check_stable_abi(const Audited& audited, Findings& findings) {
  const auto tagged = stable_tag(audited);
  constexpr unsigned any = 99;
  std::vector<const AuditedLibrary*> broken;
  std::vector<Evidence> evidence;
  for (const AuditedLibrary& library : audited.libraries) {
    const std::string own = python_of_name(library.name());
    const bool stable = own == "abi3" || (own.empty() && tagged);
    if (!stable) continue;
    const auto outside = outside_stable_abi(library, tagged.value_or(any));
    if (outside.empty()) continue;
    broken.push_back(&library);
    for (const std::string& one : outside) evidence.push_back({library.path, "", one});
  }
  if (broken.empty()) return;
  Finding& finding = findings.add(
      "stable-abi-broken", audited.title,
      fmt::format("{} need{} {} symbol{} that Python{} does not promise", name_libraries(broken),
                  broken.size() == 1 ? "s" : "", evidence.size(), evidence.size() == 1 ? "" : "s",
                  tagged ? fmt::format(" 3.{}", *tagged) : std::string("'s stable ABI")));
  for (Evidence& one : evidence) add_evidence(finding, one.file, "", std::move(one.fact));
  finding.hint = "define Py_LIMITED_API as the tag says, or build one wheel for each Python";
}

/// Whether more than one minor release is allowed.
bool allows_several(const wheel::SpecifierSet& specifiers) {
  constexpr unsigned newest_minor = 40;
  constexpr unsigned newest_patch = 4;
  unsigned allowed = 0;
  for (const unsigned major : {1U, 2U, 3U}) {
    for (unsigned minor = 0; minor <= newest_minor; ++minor) {
      bool any = false;
      for (unsigned patch = 0; patch <= newest_patch && !any; ++patch) {
        const auto version = wheel::parse_version(fmt::format("{}.{}.{}", major, minor, patch));
        any = version && specifiers.contains(*version);
      }
      if (any && ++allowed > 1) return true;
    }
  }
  return false;
}

void check_torch(const Audited& audited, Findings& findings) {
  if (is_torch_itself(audited) || audited.declaration->abi_dependency) return;
  std::vector<const AuditedLibrary*> bound;
  for (const AuditedLibrary& library : audited.libraries) {
    if (library.linkage.torch_cxx.count > 0) bound.push_back(&library);
  }
  if (bound.empty()) return;
  const auto& requirements = audited.declaration->requirements;
  const auto torch = std::ranges::find_if(requirements, [](const wheel::Requirement& one) {
    return wheel::normalize_name(one.name) == "torch";
  });
  if (torch != requirements.end() && !allows_several(torch->specifiers)) return;
  Finding& finding = findings.add(
      "torch-unpinned", audited.title,
      fmt::format("{} use{} C++ of torch, which is of one release, and the wheel {}",
                  name_libraries(bound), bound.size() == 1 ? "s" : "",
                  torch == requirements.end()
                      ? std::string("does not require torch")
                      : fmt::format("requires {}", wheel::render_requirement(*torch))));
  for (const AuditedLibrary* library : bound) {
    add_evidence(finding, library->path, "",
                 fmt::format("{} symbols, such as {}", library->linkage.torch_cxx.count,
                             binaries::demangled(library->linkage.torch_cxx.examples.front())
                                 .substr(0, longest_symbol)));
  }
  finding.hint =
      "require the one release that it was built with (torch==2.9.*), declare it as abi_dependency "
      "of a variant, or use torch's stable C interface (torch/csrc/stable)";
}

}  // namespace

void check_abi(const Audited& audited, Findings& findings) {
  if (!audited.declaration) return;
  check_python_tags(audited, findings);
  check_module_names(audited, findings);
  check_stable_abi(audited, findings);
  check_torch(audited, findings);
}

}  // namespace axle::doctor
