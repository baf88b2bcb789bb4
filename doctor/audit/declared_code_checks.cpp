// The code in a package's libraries against its properties: what `variant build` refuses.
#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "binaries/declared_properties.h"
#include "binaries/gpu_code_match.h"
#include "doctor/audit/audit_checks.h"
#include "doctor/audit/floors.h"
#include "doctor/audit/library_owners.h"
#include "providers/gpu_archs.h"

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

/// Of its libraries; without any, of its platform tags; without these, of its properties.
detect::Arch architecture_of(const Audited& audited) {
  const auto named = [](std::string_view name) {
    for (const detect::Arch arch : {detect::Arch::x86_64, detect::Arch::aarch64}) {
      if (name == detect::render_arch(arch)) return arch;
    }
    return detect::Arch::other;
  };
  if (const std::string own = main_architecture(audited); !own.empty()) return named(own);
  for (const wheel::Tag& tag : audited.declaration->tags) {
    for (const detect::Arch arch : {detect::Arch::x86_64, detect::Arch::aarch64}) {
      if (tag.platform.ends_with(fmt::format("_{}", detect::render_arch(arch)))) return arch;
    }
  }
  return binaries::declared_architecture(audited.declaration->properties);
}

void check_declared_architecture(const Audited& audited, Findings& findings) {
  if (!audited.declaration) return;
  const detect::Arch arch = architecture_of(audited);
  const auto others = binaries::properties_of_others(audited.declaration->properties, arch);
  if (others.empty()) return;
  const std::string own = main_architecture(audited);
  findings
      .add("property-architecture", audited.title,
           fmt::format("{} {} declared, and {}", fmt::join(others, ", "),
                       others.size() == 1 ? "is" : "are",
                       own.empty() ? std::string("its other properties or its tag are of another "
                                                 "CPU architecture")
                                   : fmt::format("its libraries are for {}", own)))
      .hint = "declare properties of the architecture that it is for: no machine has those of two";
}

std::string cuda_needed_by_code(const binaries::CudaCode& code) {
  constexpr std::string_view first_with_zstd = "12.4";
  // Drivers for these GPUs are newer than that.
  constexpr std::uint32_t first_architecture_later = 100;
  if (code.packing == binaries::CudaPacking::zstd && code.architecture < first_architecture_later)
    return std::string(first_with_zstd);
  return {};
}

/// Of a container with nothing but PTX: the oldest CUDA that compiles any of it; empty: any, or
/// unknown.
std::string cuda_needed_by_ptx(const binaries::CudaGroup& group) {
  std::string least;
  for (const binaries::CudaCode& code : group.codes) {
    if (code.kind != binaries::CudaCodeKind::ptx) return {};
    const std::string cuda = binaries::cuda_of_ptx(code.major, code.minor);
    if (cuda.empty()) return {};
    if (least.empty() || *providers::parse_major_minor(cuda) < *providers::parse_major_minor(least))
      least = cuda;
  }
  return least;
}

/// What a library has that needs a CUDA newer than `declared`.
class NewerCuda {
 public:
  NewerCuda(const AuditedLibrary& library, std::pair<unsigned, unsigned> declared)
      : library_(library), declared_(declared) {}

  std::vector<Evidence> find() {
    for (const std::string& needed : library_.facts.needed) {
      if (cuda_major_of(needed) > declared_.first)
        found_.push_back({library_.path, "DT_NEEDED", needed});
    }
    for (const binaries::CudaGroup& group : library_.facts.cuda.groups) {
      if (is_newer(cuda_needed_by_ptx(group))) {
        const binaries::CudaCode& code = group.codes.front();
        add_code(fmt::format("{}, PTX of CUDA {}", binaries::render_cuda_code(code),
                             cuda_needed_by_ptx(group)));
      }
      for (const binaries::CudaCode& code : group.codes) {
        if (is_newer(cuda_needed_by_code(code)))
          add_code(
              fmt::format("{}, compressed with zstd: CUDA 12.4", binaries::render_cuda_code(code)));
      }
    }
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool is_newer(const std::string& cuda) const {
    const auto needs = providers::parse_major_minor(cuda);
    return needs && *needs > declared_;
  }
  void add_code(std::string what) {
    const Evidence one{library_.path, ".nv_fatbin", std::move(what)};
    const bool known = std::ranges::any_of(
        found_, [&](const Evidence& before) { return before.fact == one.fact; });
    if (!known) found_.push_back(one);
  }

  const AuditedLibrary& library_;
  std::pair<unsigned, unsigned> declared_;
  std::vector<Evidence> found_;
};

void check_declared_cuda(const Audited& audited, Findings& findings) {
  const std::string cuda = binaries::declared_cuda(properties_of(audited));
  const auto declared = providers::parse_major_minor(cuda);
  if (!declared) return;
  std::vector<Evidence> evidence;
  for (const AuditedLibrary& library : audited.libraries) {
    for (Evidence& one : NewerCuda(library, *declared).find()) evidence.push_back(std::move(one));
  }
  for (const binaries::DeclaredGpu& gpu : binaries::declared_gpus(properties_of(audited))) {
    auto best = binaries::CodeFit::absent;
    for (const AuditedLibrary& library : audited.libraries) {
      if (binaries::has_code_for(library.facts, gpu.vendor))
        best = std::min(best, binaries::judge_declared_gpu(library.facts, gpu, cuda));
    }
    if (best == binaries::CodeFit::needs_newer_driver)
      evidence.push_back({"", ".nv_fatbin", fmt::format("only newer PTX for {}", gpu.property)});
  }
  if (evidence.empty()) return;
  Finding& finding = findings.add(
      "cuda-version-undeclared", audited.title,
      fmt::format("{} needs a newer CUDA than that of every driver which is declared, {}",
                  evidence.front().file.empty() ? "it" : evidence.front().file, cuda));
  for (Evidence& one : evidence) add_evidence(finding, one.file, one.section, std::move(one.fact));
  finding.hint =
      "declare nvidia :: cuda_version_lower_bound as it needs it, or build it with the CUDA that "
      "is declared";
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
  check_declared_architecture(audited, findings);
  check_declared_levels(audited, findings);
  check_instructions(audited, findings);
  check_declared_gpus(audited, findings);
  check_declared_cuda(audited, findings);
  say_unread_code(audited, findings);
  say_packed_code(audited, findings);
}

}  // namespace axle::doctor
