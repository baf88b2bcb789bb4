// What hardened systems refuse to load, and where libraries search for others.
#include <filesystem>
#include <string_view>

#include <fmt/core.h>

#include "doctor/audit/audit_checks.h"

namespace axle::doctor {
namespace {

/// Levels between site-packages and the prefix: lib/python3.11/site-packages.
constexpr int levels_below_prefix = 3;

void say(const Audited& audited, std::string_view code, bool binaries::Linkage::* fault,
         std::string_view section, std::string_view what, std::string_view hint,
         Findings& findings) {
  std::vector<const AuditedLibrary*> libraries;
  for (const AuditedLibrary& library : audited.libraries) {
    if (library.linkage.*fault) libraries.push_back(&library);
  }
  if (libraries.empty()) return;
  Finding& finding = findings.add(code, audited.title,
                                  fmt::format("{} {} {}", name_libraries(libraries),
                                              libraries.size() == 1 ? "has" : "have", what));
  for (const AuditedLibrary* library : libraries)
    add_evidence(finding, library->path, std::string(section), std::string(what));
  finding.hint = std::string(hint);
}

/// How far above site-packages a run path leads; 0: not at all, or it is absolute.
int levels_above(const std::string& library, std::string_view path) {
  constexpr std::string_view origin = "$ORIGIN";
  constexpr std::string_view braced = "${ORIGIN}";
  const std::size_t length = path.starts_with(origin)   ? origin.size()
                             : path.starts_with(braced) ? braced.size()
                                                        : 0;
  if (length == 0) return 0;
  const std::string folder = std::filesystem::path(library).parent_path().string();
  const std::string whole = std::filesystem::path("./" + folder + std::string(path.substr(length)))
                                .lexically_normal()
                                .string();
  int levels = 0;
  for (std::string_view rest = whole; rest.starts_with(".."); ++levels)
    rest.remove_prefix(std::min<std::size_t>(rest.size(), 3));
  return levels;
}

void check_run_paths(const Audited& audited, Findings& findings) {
  Finding* absolute = nullptr;
  Finding* outside = nullptr;
  // References into `findings` end with the next addition: first one code, then the other.
  for (const bool first : {true, false}) {
    for (const AuditedLibrary& library : audited.libraries) {
      const bool old = library.facts.runpath.empty();
      for (const std::string& path : old ? library.facts.rpath : library.facts.runpath) {
        const std::string section = old ? "DT_RPATH" : "DT_RUNPATH";
        if (first && path.starts_with('/')) {
          if (absolute == nullptr) {
            absolute =
                &findings.add("rpath-absolute", audited.title,
                              fmt::format("{} searches libraries in {}", library.path, path));
            absolute->hint = "use $ORIGIN, or remove it: patchelf --remove-rpath";
          }
          add_evidence(*absolute, library.path, section, path);
        } else if (!first && levels_above(library.path, path) > levels_below_prefix) {
          if (outside == nullptr) {
            outside =
                &findings.add("rpath-outside", audited.title,
                              fmt::format("{} searches libraries in {}, outside of the environment",
                                          library.path, path));
            outside->hint = "use a path below $ORIGIN";
          }
          add_evidence(*outside, library.path, section, path);
        }
      }
    }
  }
}

}  // namespace

void check_loading(const Audited& audited, Findings& findings) {
  say(audited, "executable-stack", &binaries::Linkage::executable_stack, "PT_GNU_STACK",
      "an executable stack",
      "mark its assembly files with .section .note.GNU-stack, or link with -z noexecstack",
      findings);
  say(audited, "text-relocations", &binaries::Linkage::text_relocations, "DT_TEXTREL",
      "code that is changed when it is loaded", "compile all of it with -fPIC", findings);
  say(audited, "writable-code", &binaries::Linkage::writable_code, "PT_LOAD",
      "a segment that may be written and executed",
      "link it without -N and without a linker script that merges code and data", findings);
  check_run_paths(audited, findings);
}

}  // namespace axle::doctor
