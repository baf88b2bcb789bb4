// The platform tags against what the libraries need of the system.
#include <algorithm>
#include <optional>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "doctor/audit/audit_checks.h"
#include "doctor/audit/floors.h"
#include "wheel/linux_platform.h"

namespace axle::doctor {
namespace {

/// What the platform tags of a wheel promise together: it may be installed wherever one of them
/// fits, so the oldest counts.
struct Promise {
  std::set<std::string> platforms;  ///< as in the tags
  std::set<std::string> architectures;
  std::optional<unsigned> glibc_minor;  ///< of the oldest manylinux
  std::string oldest;                   ///< that tag
  bool musl = false;
  bool any = false;
  bool local = false;    ///< linux_…
  bool foreign = false;  ///< of another system
};

Promise read_promise(const Declaration& declared) {
  Promise promise;
  for (const wheel::Tag& tag : declared.tags) {
    const std::string& platform = tag.platform;
    if (!promise.platforms.insert(platform).second) continue;
    constexpr std::string_view local = "linux_";
    if (platform == "any") {
      promise.any = true;
    } else if (const auto parsed = wheel::parse_linux_platform(platform)) {
      promise.architectures.insert(parsed->architecture);
      if (parsed->libc != "glibc") {
        promise.musl = true;
      } else if (!promise.glibc_minor || parsed->version.second < *promise.glibc_minor) {
        promise.glibc_minor = parsed->version.second;
        promise.oldest = platform;
      }
    } else if (platform.starts_with(local)) {
      promise.local = true;
      promise.architectures.insert(platform.substr(local.size()));
    } else {
      promise.foreign = true;
    }
  }
  return promise;
}

std::string render_platforms(const Promise& promise) {
  return fmt::format("{}", fmt::join(promise.platforms, "."));
}

void check_tag_architecture(const Audited& audited, const Promise& promise, Findings& findings) {
  std::vector<const AuditedLibrary*> others;
  for (const AuditedLibrary& library : audited.libraries) {
    if (!promise.architectures.contains(library.facts.architecture)) others.push_back(&library);
  }
  if (others.empty() || promise.architectures.empty()) return;
  Finding& finding =
      findings.add("architecture-differs", audited.title,
                   fmt::format("the tag is {}, but {} {} for {}", render_platforms(promise),
                               name_libraries(others), others.size() == 1 ? "is" : "are",
                               others.front()->facts.architecture));
  if (others.size() < audited.libraries.size()) finding.level = FindingLevel::warning;
  for (const AuditedLibrary* library : others)
    add_evidence(finding, library->path, "ELF header", library->facts.architecture);
  finding.hint = "build it for the architecture of the tag, or change the tag";
}

std::string render_reason(const NewestVersion& reason) {
  return reason.version.empty() ? reason.library
                                : fmt::format("{} of {}", reason.version, reason.library);
}

void check_floor(const Audited& audited, const Promise& promise, const SystemFloor& floor,
                 Findings& findings) {
  const std::string fitting = oldest_platform(floor, main_architecture(audited));
  if (!promise.glibc_minor || promise.musl) return;
  if (floor.glibc_minor > *promise.glibc_minor) {
    Finding& finding =
        findings.add("platform-tag-old", audited.title,
                     fmt::format("{} needs {}, which machines of {} need not have",
                                 floor.reason.file, render_reason(floor.reason), promise.oldest));
    for (const auto& [family, newest] : floor.newest)
      add_evidence(finding, newest.file, "", render_reason(newest));
    finding.hint =
        fitting.empty()
            ? Hint("build it in the container of the tag")
            : Hint(fmt::format("tag it {}, or build it in the container of the tag", fitting));
  } else if (floor.glibc_minor < *promise.glibc_minor && floor.glibc && !fitting.empty() &&
             !promise.platforms.contains(fitting)) {
    findings
        .add("platform-tag-cautious", audited.title,
             fmt::format("the tag is {}; its symbols are all in {}", promise.oldest, fitting))
        .hint = "nothing, or the older tag: more machines can install it";
  }
}

void check_unknown_versions(const Audited& audited, const SystemFloor& floor, Findings& findings) {
  if (floor.unknown.empty()) return;
  const NewestVersion& first = floor.unknown.front();
  Finding& finding = findings.add("symbol-version-unknown", audited.title,
                                  fmt::format("{} needs {} of {}, which no platform tag promises",
                                              first.file, first.version, first.library));
  for (const NewestVersion& one : floor.unknown)
    add_evidence(finding, one.file, "", render_reason(one));
  finding.hint = "build it with an older toolchain, or link that library statically";
}

void check_libc(const Audited& audited, const Promise& promise, const SystemFloor& floor,
                Findings& findings) {
  const bool wrong = (promise.musl && !promise.glibc_minor && floor.glibc) ||
                     (promise.glibc_minor && !promise.musl && floor.musl);
  if (!wrong) return;
  findings
      .add("libc-differs", audited.title,
           fmt::format("the tag is {}, but the libraries are linked with {}",
                       render_platforms(promise), promise.musl ? "glibc" : "musl"))
      .hint = "build it in the container of the tag, or change the tag";
}

void say_wrong_kind(const Audited& audited, const Promise& promise, const SystemFloor& floor,
                    Findings& findings) {
  const std::string fitting = oldest_platform(floor, main_architecture(audited));
  const std::string hint =
      fitting.empty() ? std::string("tag it for its platform") : fmt::format("tag it {}", fitting);
  if (promise.any) {
    Finding& finding = findings.add(
        "platform-tag-any", audited.title,
        fmt::format("it is tagged for any platform, but has {} librar{} for {}",
                    audited.libraries.size(), audited.libraries.size() == 1 ? "y" : "ies",
                    main_architecture(audited)));
    for (const AuditedLibrary& library : audited.libraries)
      add_evidence(finding, library.path, "ELF header", library.facts.architecture);
    finding.hint = hint;
  }
  if (promise.local && !promise.glibc_minor) {
    findings
        .add("platform-tag-local", audited.title,
             fmt::format("{} promises nothing, and indexes refuse it", render_platforms(promise)))
        .hint = hint;
  }
}

}  // namespace

void check_platform(const Audited& audited, Findings& findings) {
  if (!audited.declaration) return;
  const Promise promise = read_promise(*audited.declaration);
  if (promise.foreign)
    findings.not_looked_at(fmt::format("{}: libraries that are not for Linux ({})", audited.title,
                                       render_platforms(promise)));
  if (audited.libraries.empty() || promise.platforms.empty()) return;
  const SystemFloor floor = system_floor(audited);
  say_wrong_kind(audited, promise, floor, findings);
  check_tag_architecture(audited, promise, findings);
  check_libc(audited, promise, floor, findings);
  if (promise.glibc_minor) check_unknown_versions(audited, floor, findings);
  check_floor(audited, promise, floor, findings);
}

}  // namespace axle::doctor
