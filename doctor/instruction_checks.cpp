// Instructions in the installed libraries that the CPU lacks.
#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "binaries/instruction_scan.h"
#include "doctor/environment_checks.h"
#include "doctor/fixes.h"

namespace axle::doctor {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::minutes longest_disassembly{10};

/// A library with instructions that the CPU lacks.
struct Suspect {
  const InstalledLibrary* library;
  std::string instructions;  ///< "avx512f (78900), avx512bw (4090)"
  bool asks_cpu;
};

std::string lacking_instructions(const binaries::InstructionScan& scan,
                                 const detect::Machine& machine) {
  std::vector<std::string> names;
  for (const auto& [capability, count] : scan.counts) {
    if (lacks(machine.cpu.capabilities.of(capability)))
      names.push_back(fmt::format("{} ({})", detect::plain_name(detect::row(capability)), count));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// Whether any capability of the machine's architecture has the presence `is`.
bool any_capability(const detect::Machine& machine, bool (*is)(detect::Presence)) {
  return std::ranges::any_of(detect::capabilities(), [&](const detect::CapabilityRow& row) {
    return row.arch == machine.cpu.arch && is(machine.cpu.capabilities.of(row.id));
  });
}

/// One finding per package. If a library never checks the CPU, nothing guards its code, except
/// possibly its caller.
void say_suspects(const InstalledPackageFiles& package, const std::vector<Suspect>& suspects,
                  const InstalledFiles& files, Findings& findings) {
  const auto unguarded = [](const Suspect& one) {
    return !one.asks_cpu && !binaries::is_chosen_by_cpu(one.library->name);
  };
  const auto count = std::ranges::count_if(suspects, unguarded);
  Finding& finding = findings.add(
      "cpu-instructions", package.title,
      count == 0 ? fmt::format("{} of its libraries contain instructions that this CPU lacks, but "
                               "check the CPU first, or are selected by it",
                               suspects.size())
                 : fmt::format("{} of its libraries contain instructions that this CPU lacks, and "
                               "never check the CPU",
                               count));
  if (count > 0) {
    finding.level = FindingLevel::warning;
    finding.hint = build_for_older_cpu(package, files);
    const std::string words = "if it ends with SIGILL";
    finding.hint.words =
        finding.hint.words.empty() ? words : fmt::format("{}: {}", words, finding.hint.words);
  }
  for (const bool open : {true, false}) {
    for (const Suspect& one : suspects) {
      if (finding.evidence.size() == most_examples) return;
      if (unguarded(one) == open)
        finding.evidence.push_back({one.library->name, ".text", one.instructions});
    }
  }
}

}  // namespace

void check_instructions(const InstalledFiles& files, const JudgedMachine& judged,
                        Findings& findings) {
  const detect::Arch arch = judged.machine.cpu.arch;
  if (arch != detect::Arch::x86_64 && arch != detect::Arch::aarch64)
    return findings.not_looked_at("instructions: only x86-64 and aarch64 are supported");
  if (!any_capability(judged.machine, lacks)) {
    // It would take minutes without finding anything.
    if (!files.libraries.empty() && any_capability(judged.machine, is_unknown))
      findings.not_looked_at(
          "the instructions in the libraries: this CPU is not known to lack any");
    return;
  }
  std::set<std::string_view> open;
  const auto deadline = Clock::now() + longest_disassembly;
  std::size_t late = 0;
  std::map<std::size_t, std::vector<Suspect>> suspects;
  for (const InstalledLibrary& library : files.libraries) {
    if (library.facts.architecture != detect::render_arch(arch)) continue;
    if (Clock::now() >= deadline) {
      ++late;
      continue;
    }
    const auto scan = binaries::scan_instructions(library.path, arch);
    if (!scan) {
      findings.not_looked_at(
          fmt::format("the instructions of {}: {}", library.name, scan.error().message));
      if (scan.error().kind == ErrorKind::not_found) break;
      continue;
    }
    if (!scan->complete)
      findings.not_looked_at(
          fmt::format("some instructions of {}: it took too long", library.name));
    std::string lacking = lacking_instructions(*scan, judged.machine);
    for (const auto& [capability, count] : scan->counts) {
      if (is_unknown(judged.machine.cpu.capabilities.of(capability)))
        open.insert(detect::plain_name(detect::row(capability)));
    }
    // A file that was not read to its end may check the CPU further on.
    if (!lacking.empty())
      suspects[library.package].push_back(
          {&library, std::move(lacking),
           scan->asks_cpu || library.facts.names_cpu_question || !scan->complete});
  }
  for (const auto& [package, libraries] : suspects)
    say_suspects(files.packages[package], libraries, files, findings);
  if (!open.empty())
    findings.not_looked_at(fmt::format(
        "whether this CPU has what libraries contain: unknown for {}", fmt::join(open, ", ")));
  if (late > 0) {
    findings.not_looked_at(
        fmt::format("the instructions of {} further libraries: the limit of {} minutes is reached",
                    late, longest_disassembly.count()));
  }
}

}  // namespace axle::doctor
