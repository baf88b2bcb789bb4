#include "session/projects/class_choice.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace axle::session {

std::string minor_of(const wheel::Version& python) {
  const auto& numbers = python.release;
  return fmt::format("{}.{}", numbers.empty() ? 0 : numbers[0],
                     numbers.size() < 2 ? 0 : numbers[1]);
}

Result<std::vector<ClassVerdict>> judge_classes(const plan::Lock& lock,
                                                const detect::Machine& machine,
                                                const wheel::Version* python) {
  std::vector<ClassVerdict> verdicts;
  for (const plan::LockedClass& one : lock.classes) {
    const auto predicate = machines::parse_predicate(one.holds);
    if (!predicate)
      return std::unexpected(
          within(fmt::format("{}: class {}", plan::lock_filename, one.name), predicate.error()));
    verdicts.push_back({.about = &one,
                        .misfits = machines::misfits(*predicate, machine),
                        .other_python = python != nullptr && minor_of(*python) != one.python});
  }
  return verdicts;
}

std::string render_misfits(const ClassVerdict& verdict) {
  std::vector<std::string> parts;
  for (const machines::Misfit& misfit : verdict.misfits)
    parts.push_back(
        fmt::format("{} (here: {})", machines::render_predicate({{misfit.atom}}), misfit.seen));
  if (verdict.other_python) parts.push_back(fmt::format("Python {}", verdict.about->python));
  return fmt::format("{}", fmt::join(parts, ", "));
}

CommandFailure no_class_holds(const std::vector<ClassVerdict>& verdicts, std::string_view python) {
  std::vector<const ClassVerdict*> nearest;
  nearest.reserve(verdicts.size());
  for (const ClassVerdict& one : verdicts) nearest.push_back(&one);
  std::ranges::stable_sort(nearest, {}, [](const ClassVerdict* one) {
    return one->misfits.size() + (one->other_python ? 1 : 0);
  });
  CommandFailure failure{
      {ErrorKind::unsupported,
       fmt::format("no class of {} is for this machine{}", plan::lock_filename,
                   python.empty() ? std::string() : fmt::format(" and Python {}", python)),
       "name this machine a class, for example `here = \"this\"` in [tool.axle.machines] of "
       "pyproject.toml, and run `variant lock`"},
      exit_misfit};
  constexpr std::size_t most = 5;
  for (const ClassVerdict* one : nearest) {
    if (failure.lines.size() == most) {
      failure.lines.push_back(fmt::format("and {} more", nearest.size() - most));
      break;
    }
    failure.lines.push_back(
        fmt::format("class {} needs {}", one->about->name, render_misfits(*one)));
  }
  return failure;
}

}  // namespace axle::session
