#include "session/projects/class_choice.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace axle::session {

std::string minor_of(const wheel::Version& python) {
  const auto& numbers = python.release;
  return fmt::format("{}.{}", numbers.empty() ? 0 : numbers[0],
                     numbers.size() < 2 ? 0 : numbers[1]);
}

std::optional<std::string> newest_release(const std::string& minor,
                                          const wheel::SpecifierSet& allowed) {
  constexpr unsigned more_than_any_has = 100;
  for (unsigned patch = more_than_any_has; patch-- > 0;) {
    std::string release = fmt::format("{}.{}", minor, patch);
    const auto version = wheel::parse_version(release);
    if (version && allowed.contains(*version)) return release;
  }
  return std::nullopt;
}

bool is_for_python(const plan::LockedClass& about, const wheel::Version& python) {
  if (minor_of(python) != about.python) return false;
  const auto releases = wheel::parse_specifiers(about.python_releases);
  return releases && releases->contains(python);
}

std::string render_python(const plan::LockedClass& about) {
  return about.python_releases.empty()
             ? about.python
             : fmt::format("{} ({})", about.python, about.python_releases);
}

Result<std::vector<ClassVerdict>> judge_classes(const plan::Lock& lock,
                                                const detect::Machine& machine,
                                                const providers::GpuPolicy& gpus,
                                                const wheel::Version* python) {
  std::vector<ClassVerdict> verdicts;
  for (const plan::LockedClass& one : lock.classes) {
    const auto predicate = resolver::parse_predicate(one.holds);
    if (!predicate)
      return std::unexpected(
          within(fmt::format("{}: class {}", plan::lock_filename, one.name), predicate.error()));
    verdicts.push_back({.about = &one,
                        .misfits = resolver::misfits(*predicate, machine, gpus),
                        .other_python = python != nullptr && !is_for_python(one, *python)});
  }
  return verdicts;
}

std::string render_misfits(const ClassVerdict& verdict) {
  std::vector<std::string> parts;
  for (const resolver::Misfit& misfit : verdict.misfits)
    parts.push_back(fmt::format("{} (here: {})", resolver::render_atom(misfit.atom), misfit.seen));
  if (verdict.other_python) parts.push_back("Python " + render_python(*verdict.about));
  return fmt::format("{}", fmt::join(parts, ", "));
}

CommandFailure no_class_holds(const std::vector<ClassVerdict>& verdicts) {
  std::vector<std::vector<resolver::Misfit>> misfits;
  misfits.reserve(verdicts.size());
  for (const ClassVerdict& one : verdicts) misfits.push_back(one.misfits);
  const std::size_t nearest = resolver::nearest_of(misfits);
  CommandFailure failure{
      {ErrorKind::unsupported,
       verdicts.size() == 1
           ? fmt::format("class {} is not for this machine", verdicts.front().about->name)
           : fmt::format("no class of {} is for this machine", plan::lock_filename),
       "name this machine a class, for example `here = \"this\"` in [tool.axle.machines] of "
       "pyproject.toml, and run `variant lock`"},
      exit_misfit};
  const auto line = [&](const ClassVerdict& one) {
    return fmt::format("class {} needs {}", one.about->name, render_misfits(one));
  };
  constexpr std::size_t most = 5;
  failure.lines.push_back((verdicts.size() > 1 ? "the nearest: " : "") + line(verdicts[nearest]));
  for (std::size_t i = 0; i < verdicts.size() && failure.lines.size() < most; ++i) {
    if (i != nearest) failure.lines.push_back(line(verdicts[i]));
  }
  if (verdicts.size() > most)
    failure.lines.push_back(fmt::format("and {} more classes", verdicts.size() - most));
  return failure;
}

}  // namespace axle::session
