// The code in a package's libraries against its properties: what `variant build` refuses.
#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "binaries/declared_properties.h"
#include "binaries/gpu_code_match.h"
#include "doctor/audit/audit_checks.h"

namespace axle::doctor {
namespace {

using detect::Capability;

std::string render_properties(const wheel::VariantProperties& properties) {
  std::vector<std::string> words;
  for (const wheel::Property& property : properties)
    words.push_back(wheel::render_property(property));
  return words.empty() ? "no property" : fmt::format("{}", fmt::join(words, ", "));
}

const wheel::VariantProperties& properties_of(const Audited& audited) {
  static const wheel::VariantProperties nothing;
  return audited.declaration ? audited.declaration->properties : nothing;
}

void check_declared_levels(const Audited& audited, Findings& findings) {
  const auto& properties = properties_of(audited);
  const auto has = binaries::declared_capabilities(properties, detect::Arch::x86_64);
  std::vector<const AuditedLibrary*> beyond;
  for (const AuditedLibrary& library : audited.libraries) {
    if (library.facts.isa.needed.empty() || library.path.contains("glibc-hwcaps/")) continue;
    const auto highest = static_cast<unsigned>(library.facts.isa.needed.back().back() - '0');
    const auto& level = detect::x86_64_level(highest);
    if (std::ranges::any_of(level, [&](Capability one) { return !has.contains(one); }))
      beyond.push_back(&library);
  }
  if (beyond.empty()) return;
  const std::string& level = beyond.front()->facts.isa.needed.back();
  Finding& finding = findings.add(
      "cpu-level-undeclared", audited.title,
      fmt::format("{} need{} {}, and {} is declared", name_libraries(beyond),
                  beyond.size() == 1 ? "s" : "", level, render_properties(properties)));
  for (const AuditedLibrary* library : beyond)
    add_evidence(finding, library->path, ".note.gnu.property", library->facts.isa.needed.back());
  finding.hint =
      fmt::format("declare x86_64 :: level :: v{}, or build it without -z {}", level.back(), level);
}

/// "avx2 (120), fma (3), first in function f of .text"
std::string undeclared_instructions(const AuditedLibrary& library,
                                    const std::set<Capability>& has) {
  std::vector<std::string> names;
  std::string first;
  for (const auto& [capability, count] : library.code->counts) {
    if (has.contains(capability)) continue;
    names.push_back(fmt::format("{} ({})", detect::plain_name(detect::row(capability)), count));
    const auto place = library.code->first.find(capability);
    if (first.empty() && place != library.code->first.end())
      first = fmt::format(", first in {}", place->second.render());
  }
  return names.empty() ? std::string() : fmt::format("{}{}", fmt::join(names, ", "), first);
}

void check_instructions(const Audited& audited, Findings& findings) {
  const auto& properties = properties_of(audited);
  std::vector<const AuditedLibrary*> unguarded;
  std::vector<Evidence> evidence;
  bool somewhere = false;
  for (const AuditedLibrary& library : audited.libraries) {
    somewhere = somewhere || library.is_dispatched();
    if (!library.code || library.is_dispatched()) continue;
    const auto has = binaries::declared_capabilities(properties, library.arch());
    std::string found = undeclared_instructions(library, has);
    if (found.empty()) continue;
    unguarded.push_back(&library);
    evidence.push_back({library.path, ".text", std::move(found)});
  }
  if (unguarded.empty()) return;
  Finding& finding = findings.add(
      "instructions-undeclared", audited.title,
      fmt::format("{} {} instructions that not every CPU has and never check{} the CPU; {} is "
                  "declared",
                  name_libraries(unguarded), unguarded.size() == 1 ? "has" : "have",
                  unguarded.size() == 1 ? "s" : "", render_properties(properties)));
  if (somewhere) finding.level = FindingLevel::warning;
  for (Evidence& one : evidence) add_evidence(finding, one.file, one.section, std::move(one.fact));
  finding.hint =
      "compile it for what is declared, declare what it needs, or guard that code with a check of "
      "the CPU";
  if (somewhere) finding.hint.words += "; nothing, if its caller has checked it";
}

void say_gpu_code_missing(const Audited& audited, const binaries::DeclaredGpu& gpu,
                          Findings& findings) {
  std::set<std::string> found;
  Finding& finding = findings.add(
      "gpu-code-missing", audited.title,
      fmt::format("{} is declared, and none of its libraries has code for it", gpu.property));
  for (const AuditedLibrary& library : audited.libraries) {
    if (!binaries::has_code_for(library.facts, gpu.vendor)) continue;
    const auto names = binaries::code_names(library.facts, gpu.vendor);
    add_evidence(finding, library.path, binaries::gpu_code_section(gpu.vendor),
                 fmt::format("{}", fmt::join(names, " ")));
  }
  finding.hint =
      "compile for that GPU as well (CMAKE_CUDA_ARCHITECTURES, CMAKE_HIP_ARCHITECTURES, "
      "-fsycl-targets), or do not declare it";
}

void check_declared_gpus(const Audited& audited, Findings& findings) {
  if (audited.libraries.empty()) return;
  for (const binaries::DeclaredGpu& gpu : binaries::declared_gpus(properties_of(audited))) {
    auto best = binaries::CodeFit::absent;
    for (const AuditedLibrary& library : audited.libraries) {
      if (binaries::has_code_for(library.facts, gpu.vendor))
        best = std::min(best, binaries::judge_declared_gpu(library.facts, gpu));
    }
    if (best == binaries::CodeFit::absent) say_gpu_code_missing(audited, gpu, findings);
  }
}

void say_unread_code(const Audited& audited, Findings& findings) {
  std::vector<Evidence> evidence;
  for (const AuditedLibrary& library : audited.libraries) {
    for (const binaries::UnreadPart& part : library.facts.unread)
      evidence.push_back({library.path, part.section, part.why});
  }
  if (evidence.empty()) return;
  Finding& finding =
      findings.add("gpu-code-unknown", audited.title,
                   fmt::format("{} parts of its libraries could not be read", evidence.size()));
  for (Evidence& one : evidence) add_evidence(finding, one.file, one.section, std::move(one.fact));
}

void say_packed_code(const Audited& audited, Findings& findings) {
  std::vector<const AuditedLibrary*> packed;
  for (const AuditedLibrary& library : audited.libraries) {
    const auto is_packed = [](const binaries::CudaGroup& group) {
      return std::ranges::any_of(group.codes, [](const binaries::CudaCode& code) {
        return code.packing == binaries::CudaPacking::zstd;
      });
    };
    if (std::ranges::any_of(library.facts.cuda.groups, is_packed)) packed.push_back(&library);
  }
  if (packed.empty()) return;
  Finding& finding = findings.add(
      "gpu-code-packed", audited.title,
      fmt::format("{} {} GPU code compressed with zstd: drivers from CUDA 12.4 on can use it",
                  name_libraries(packed), packed.size() == 1 ? "has" : "have"));
  for (const AuditedLibrary* library : packed)
    add_evidence(finding, library->path, ".nv_fatbin", "");
}

}  // namespace

void check_declared_code(const Audited& audited, Findings& findings) {
  check_declared_levels(audited, findings);
  check_instructions(audited, findings);
  check_declared_gpus(audited, findings);
  say_unread_code(audited, findings);
  say_packed_code(audited, findings);
}

}  // namespace axle::doctor
