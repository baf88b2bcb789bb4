#include "doctor/start/start_checks.h"

#include <algorithm>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "doctor/start/start_fixes.h"
#include "doctor/start/start_trial.h"
#include "session/variables.h"

namespace axle::doctor {

namespace {

using Kind = StartFault::Kind;

/// Those that decide how Python starts, where they are set here.
std::vector<std::string> start_variables() {
  std::vector<std::string> names;
  for (const char* prefix : {"LD_", "PYTHON"}) {
    for (const auto& [name, value] : session::variables_with_prefix(prefix)) names.push_back(name);
  }
  return names;
}

std::vector<std::string> all_but(const std::vector<std::string>& names, const std::string& one) {
  std::vector<std::string> rest;
  std::ranges::copy_if(names, std::back_inserter(rest),
                       [&](const std::string& name) { return name != one; });
  return rest;
}

/// What the others print there is what they are for.
bool may_not_complain(std::string_view variable) {
  return variable.starts_with("LD_") || variable == "PYTHONPATH" || variable == "PYTHONHOME";
}

bool is_for_python(std::string_view variable) { return variable.starts_with("PYTHON"); }

// --- Files ---

Hint hint_for_file(const std::string& python, const std::vector<StartFault>& faults) {
  std::set<unsigned> lines;
  for (const StartFault& fault : faults) lines.insert(fault.line);
  const bool whole = std::ranges::any_of(faults, [](const StartFault& fault) {
    return fault.line == 0 || fault.kind == Kind::unreadable;
  });
  if (whole) lines.clear();
  const bool starts = std::ranges::all_of(faults, [](const StartFault& fault) {
    return fault.kind == Kind::prints || fault.kind == Kind::fails;
  });
  return out_of_the_start(python, faults.front().file, lines, starts);
}

std::string_view render_fault(Kind kind) {
  switch (kind) {
    case Kind::prints:
      return "prints at each start of Python";
    case Kind::fails:
      return "fails at each start of Python";
    case Kind::ends:
      return "ends Python at its start";
    case Kind::unreadable:
      return "is not text, which ends Python at its start";
  }
  return "";
}

std::string section_of(const StartFault& fault) {
  return fault.line > 0 ? fmt::format("line {}", fault.line) : std::string();
}

void say_file(const std::string& python, std::vector<StartFault> faults, Findings& findings) {
  // A line that fails says so, too.
  std::erase_if(faults, [&](const StartFault& one) {
    return one.kind == Kind::prints && std::ranges::any_of(faults, [&](const StartFault& other) {
             return other.kind != Kind::prints && other.line == one.line;
           });
  });
  const StartFault worst = *std::ranges::max_element(faults, {}, &StartFault::kind);
  Finding& finding = findings.add(
      "start-broken", worst.file,
      fmt::format("{}{} {}",
                  worst.line > 0 ? fmt::format("line {} of ", worst.line) : std::string(),
                  worst.file, render_fault(worst.kind)));
  if (worst.kind == Kind::prints || worst.kind == Kind::fails)
    finding.level = FindingLevel::warning;
  for (const StartFault& fault : faults) {
    if (finding.evidence.size() == most_examples) break;
    finding.evidence.push_back({fault.file, section_of(fault), fault.text});
  }
  finding.hint = hint_for_file(python, faults);
}

void say_files(const std::string& python, const std::vector<StartFault>& faults,
               Findings& findings) {
  std::vector<std::string> files;
  for (const StartFault& fault : faults) {
    if (std::ranges::find(files, fault.file) == files.end()) files.push_back(fault.file);
  }
  for (const std::string& file : files) {
    std::vector<StartFault> own;
    std::ranges::copy_if(faults, std::back_inserter(own),
                         [&](const StartFault& fault) { return fault.file == file; });
    say_file(python, std::move(own), findings);
  }
}

// --- Variables ---

struct VariableTrial {
  std::vector<std::string> names;
  StartTrial trial;
  StartConditions conditions;
};

/// `alone`: the start without any variables.
bool is_to_blame(const VariableTrial& one, const StartTrial& alone) {
  const StartTrial& trial = one.trial;
  if (trial.ends) return !alone.ends;
  return (!trial.printed.empty() && trial.printed != alone.printed) ||
         (!trial.complaints.empty() && trial.complaints != alone.complaints &&
          std::ranges::any_of(one.names, may_not_complain));
}

void say_variables(const std::string& python, const VariableTrial& one, Findings& findings) {
  const StartTrial& trial = one.trial;
  const std::string names = fmt::format("{}", fmt::join(one.names, ", "));
  Finding& finding = findings.add("start-broken", names,
                                  fmt::format("with {} as {} set here, {} {}", names,
                                              one.names.size() == 1 ? "it is" : "they are", python,
                                              trial.ends              ? "does not start"
                                              : trial.printed.empty() ? "complains at each start"
                                                                      : "prints at each start"));
  if (!trial.ends) finding.level = FindingLevel::warning;
  finding.evidence.push_back(
      {"", names,
       trial.ends ? trial.why
                  : last_line(trial.printed.empty() ? trial.complaints : trial.printed)});
  if (std::ranges::any_of(one.names, is_for_python)) {
    for (const StartFault& fault : trace_start(python, one.conditions).faults) {
      if (finding.evidence.size() == most_examples) break;
      finding.evidence.push_back({fault.file, section_of(fault), fault.text});
    }
  }
  for (const std::string& name : one.names) finding.hint.commands.push_back("unset " + name);
}

VariableTrial try_variables(const std::string& python, const std::vector<std::string>& names,
                            const std::vector<std::string>& withheld) {
  VariableTrial one{names, {}, {.user_site = false, .withheld = withheld}};
  one.trial = try_start(python, one.conditions);
  return one;
}

/// Each with nothing but itself, which finds several; else each by what the start is without it.
void say_guilty_variables(const std::string& python, const std::vector<std::string>& all,
                          const StartTrial& alone, Findings& findings) {
  bool found = false;
  for (const std::string& name : all) {
    const VariableTrial one = try_variables(python, {name}, all_but(all, name));
    if (!is_to_blame(one, alone)) continue;
    say_variables(python, one, findings);
    found = true;
  }
  if (found || all.empty()) return;
  const VariableTrial together = try_variables(python, all, {});
  if (!is_to_blame(together, alone)) return;
  for (const std::string& name : all) {
    if (is_to_blame(try_variables(python, all, {name}), alone)) continue;
    VariableTrial one = together;
    one.names = {name};
    return say_variables(python, one, findings);
  }
  say_variables(python, together, findings);
}

}  // namespace

StartVerdict check_start(const std::string& python, bool surroundings, Findings& findings) {
  const std::vector<std::string> variables = start_variables();
  const StartConditions bare{.user_site = false, .withheld = variables};
  const StartConditions here = surroundings ? StartConditions() : bare;
  const StartTrial first = try_start(python, here);
  StartVerdict verdict{.search = first.search};
  if (first.sound()) return verdict;
  const StartTrial alone = surroundings ? try_start(python, bare) : first;
  const std::size_t before = findings.all().size();
  if (!alone.sound()) say_files(python, trace_start(python, bare).faults, findings);
  if (alone.sound() || (first.ends && !alone.ends)) {
    say_guilty_variables(python, variables, alone, findings);
    // What remains is the user site, whose place two variables decide.
    StartConditions user;
    std::ranges::copy_if(variables, std::back_inserter(user.withheld), [](const std::string& name) {
      return name != "PYTHONUSERBASE" && name != "PYTHONNOUSERSITE";
    });
    if (alone.sound() && !try_start(python, user).sound())
      say_files(python, trace_start(python, user).faults, findings);
  }
  const auto found = std::span(findings.all()).subspan(before);
  const bool explained = std::ranges::any_of(
      found, [](const Finding& finding) { return finding.level == FindingLevel::error; });
  verdict.explained = explained;
  if (first.ends && !explained)
    verdict.unexplained =
        Error{ErrorKind::malformed,
              fmt::format("{} is not a working Python interpreter: {}", python, first.why), ""};
  return verdict;
}

}  // namespace axle::doctor
