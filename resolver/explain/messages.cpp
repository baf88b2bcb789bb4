#include "resolver/explain/messages.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/system/shell_command.h"
#include "foundation/text/nearest.h"
#include "index/http/redaction.h"
#include "resolver/explain/facts.h"
#include "resolver/explain/unusable_wheels.h"

namespace axle::resolver {
namespace {

constexpr std::size_t max_listed = 6;

/// The first items, and how many more there are.
std::string render_some(const std::vector<std::string>& items, std::string_view separator) {
  std::string text;
  for (std::size_t i = 0; i < items.size() && i < max_listed; ++i) {
    if (i > 0) text += separator;
    text += items[i];
  }
  if (items.size() > max_listed) {
    text += fmt::format("{}and {} more", separator, items.size() - max_listed);
  }
  return text;
}

std::string render_versions(const std::vector<KnownVersion>& versions) {
  std::vector<std::string> texts;
  texts.reserve(versions.size());
  for (const KnownVersion& known : versions) {
    texts.push_back(wheel::render_version(known.version) + (known.yanked ? " (yanked)" : ""));
  }
  return render_some(texts, ", ");
}

/// The facts as a sentence, and where the machine was asked for them.
std::string render_with_source(const Facts& facts) {
  std::string text = render_facts(facts);
  for (const Fact& fact : facts) {
    const bool measured =
        fact.code == FactCode::cpu_lacks || fact.code == FactCode::other_architecture ||
        (fact.code >= FactCode::gpu_capability && fact.code <= FactCode::platform);
    if (!measured || fact.source.empty() || text.contains(fact.source)) continue;
    text += read_from(fact.source);
    break;
  }
  return text;
}

/// One line per reason: dozens of wheels often have the same.
std::vector<std::string> render_skipped(const std::vector<plan::SkippedFile>& skipped) {
  std::vector<std::pair<std::string_view, std::vector<std::string_view>>> by_reason;
  for (const plan::SkippedFile& file : skipped) {
    auto known = std::ranges::find(by_reason, std::string_view(file.reason),
                                   [](const auto& entry) { return entry.first; });
    if (known == by_reason.end()) known = by_reason.insert(known, {file.reason, {}});
    known->second.push_back(file.filename);
  }
  std::vector<std::string> lines;
  lines.reserve(by_reason.size());
  for (const auto& [reason, files] : by_reason) {
    lines.push_back(files.size() == 1 ? fmt::format("{}: {}", files.front(), reason)
                                      : fmt::format("{} wheels: {}", files.size(), reason));
  }
  return lines;
}

std::string pinned(std::string_view name, std::string_view version) {
  return shell_word(fmt::format("{}=={}", name, version));
}

/// How to have a source distribution built that is not built without being asked for.
std::string consent_hint(std::string_view name, std::string_view requirement,
                         const Options& options) {
  if (options.builds.metadata_alone)
    return fmt::format(
        "`variant lock --build={}` asks its build backend for its metadata, which runs its code",
        name);
  return fmt::format("`variant install --build={} {}` lets pip or uv build it, which runs its code",
                     name, requirement);
}

/// For a release with a source distribution that this Python can build.
std::string build_hint(std::string_view name, const wheel::Version& version,
                       const Options& options) {
  const std::string requirement = pinned(name, wheel::render_version(version));
  if (const std::string* who = options.refuses_build(name))
    return fmt::format("its source distribution is not built: {}", *who);
  if (options.builds.builder == nullptr)
    return fmt::format(
        "let pip build a wheel: `pip wheel --no-deps --wheel-dir wheels {0}`, then install it: "
        "`variant install --find-links wheels {0}`",
        requirement);
  if (options.builds.covers(name)) return "list the hash of its source distribution as well";
  return consent_hint(name, requirement, options);
}

/// Why no build of a family fits: the reasons of builds for hardware that the machine has, labels
/// with the same facts together, and what is unknown.
Error no_build_fits(std::string_view name, const Release& release, const plan::Decision& decision) {
  const std::string version = wheel::render_version(release.version);
  std::vector<std::pair<std::string, std::string>> reasons;  // reason, and the labels with it
  std::map<std::string, std::size_t> places;
  const auto add = [&](const std::string& text, const std::string& label) {
    const auto [place, is_new] = places.try_emplace(text, reasons.size());
    if (is_new) {
      reasons.emplace_back(text, label);
    } else if (std::string& labels = reasons[place->second].second; labels != label) {
      labels += " and " + label;
    }
  };
  // A missing NVIDIA GPU is only mentioned if no GPU of the machine gives a reason.
  const bool only_absent = only_absent_hardware(decision);
  for (const plan::Verdict& verdict : decision.rejected) {
    if (only_absent || !is_absent_hardware(verdict))
      add(render_with_source(verdict.facts), verdict.label);
  }
  for (const plan::SkippedFile& file : decision.skipped) {
    if (file.code == plan::SkipCode::unknown_needs) add(file.reason, {});
  }
  std::vector<std::string> texts;
  for (const auto& [text, labels] : reasons)
    texts.push_back(labels.empty() ? text : fmt::format("{}: {}", labels, text));
  if (only_absent && !texts.empty())
    texts.front().insert(0, "it has none for a GPU of this machine; ");
  if (texts.empty()) texts.emplace_back("it has none for this machine's GPU");
  return {
      ErrorKind::unsupported,
      fmt::format("no build of {} {} fits this machine: {}", name, version,
                  render_some(texts, "; ")),
      fmt::format("`variant explain {1}` shows every build with its reason; "
                  "--no-variants={0} installs the default index's wheel, whatever it was built for",
                  name, pinned(name, version))};
}

/// Why none of the known versions is allowed, and which to request.
std::string hint_of_versions(std::string_view name, const Want& want,
                             const std::vector<KnownVersion>& versions, Prereleases prereleases) {
  const auto allowed = [&](const KnownVersion& known) {
    return want.requirement.specifiers.contains(known.version);
  };
  if (const auto yanked = std::ranges::find_if(
          versions, [&](const KnownVersion& known) { return known.yanked && allowed(known); });
      yanked != versions.end()) {
    return fmt::format(
        "the only matching releases are yanked; to install one anyway, pin it: {}=={}", name,
        wheel::render_version(yanked->version));
  }
  if (want.constraint && want.by.empty())
    return fmt::format("change or remove the {}", want.overrides ? "override" : "constraint");
  const auto early = std::ranges::find_if(versions, [&](const KnownVersion& known) {
    wheel::Version released = known.version;
    released.pre.reset();
    released.dev.reset();
    return known.version.is_prerelease() &&
           (want.requirement.specifiers.contains(released) || allowed(known));
  });
  if (early != versions.end() && !count_if_named(prereleases)) {
    return fmt::format(
        "{} {} is a pre-release, which the setting prerelease leaves out: use "
        "--prerelease=explicit and request it, or --pre",
        name, wheel::render_version(early->version));
  }
  if (early != versions.end()) {
    return fmt::format("there is only a pre-release, which must be requested explicitly: {}=={}",
                       name, wheel::render_version(early->version));
  }
  return want.by.empty() ? "request one of the available versions"
                         : fmt::format("request another version of {}", want.by);
}

}  // namespace

std::string read_from(std::string_view source) {
  if (source == "override" || source == "stated") return " (stated, not read)";
  const std::string_view article = source == "interpreter" ? "the " : "";
  return fmt::format(" (read from {}{})", article, source);
}

std::string render_verdict(const plan::Verdict& verdict) {
  if (verdict.facts.empty()) return fmt::format("{}: {}", verdict.label, verdict.reason);
  return fmt::format("{}: {} ({})", verdict.label, verdict.reason,
                     render_with_source(verdict.facts));
}

std::string render_want(const Want& want) {
  const std::string requirement =
      want.text.empty() ? index::redact_url(wheel::render_requirement(want.requirement))
                        : want.text;
  if (want.constraint && !want.by.empty())
    return fmt::format("{} (must match {} {})", requirement, want.by, want.by_version);
  const std::string where = want.origin.empty() ? "" : " in " + want.origin;
  if (want.constraint)
    return fmt::format("{} ({}{})", requirement, want.overrides ? "override" : "constraint", where);
  if (want.by.empty()) return fmt::format("{} (requested{})", requirement, where);
  return fmt::format("{} (required by {} {})", requirement, want.by, want.by_version);
}

std::string render_wants(const std::vector<const Want*>& wants) {
  std::vector<std::string> texts;
  for (const Want* want : wants) {
    std::string text = render_want(*want);
    if (std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
  }
  return render_some(texts, ", ");
}

Error url_not_named(std::string_view name, const Want& want) {
  const std::string url = index::redact_url(want.requirement.url);
  return {ErrorKind::conflict,
          fmt::format("{} {} requires {} from {}, a URL that you did not request", want.by,
                      want.by_version, name, url),
          fmt::format("if you trust that URL, add '{} @ {}' as a requirement or a constraint", name,
                      url)};
}

Error wheels_forbidden(std::string_view name, const std::vector<const Want*>& wants,
                       std::string_view who, const Options& options) {
  wheel::Requirement wanted;
  for (const Want* want : wants) {
    if (!want->constraint) wanted = want->requirement;
  }
  wanted.name = name;
  wanted.marker.reset();
  wanted.url.clear();
  const std::string word = shell_word(wheel::render_requirement(wanted));
  if (options.builds.builder != nullptr && !options.builds.covers(name)) {
    return {ErrorKind::conflict,
            fmt::format("wheels of {} are excluded ({}), and nothing is built without --build",
                        name, who),
            consent_hint(name, word, options)};
  }
  const std::string* refused = options.refuses_build(name);
  return {ErrorKind::conflict,
          fmt::format("wheels of {} are excluded ({}), and it is not built{}", name, who,
                      refused == nullptr ? " here" : fmt::format(" ({})", *refused)),
          fmt::format("let uv or pip build it: `uv pip install --no-binary {0} {1}`, or `pip wheel "
                      "--no-binary {0} --no-deps -w wheels {1}`",
                      name, word)};
}

Error no_such_package(std::string_view name, const std::vector<const Want*>& wants,
                      std::string_view looked_in, const std::vector<std::string>& known) {
  const bool of_packages =
      std::ranges::none_of(wants, [](const Want* want) { return want->by.empty(); });
  return {
      ErrorKind::not_found,
      looked_in.empty()
          ? fmt::format("no index or find-links location is configured for {}: {}", name,
                        render_wants(wants))
          : fmt::format("package {} was not found in {}: {}", name, looked_in, render_wants(wants)),
      of_packages ? "add an index that has it with --extra-index-url, or request another version "
                    "of the package that requires it"
                  : text::suggest(name, known,
                                  "check the spelling, or add an index that has it with "
                                  "--index-url or --extra-index-url")};
}

Error no_such_version(std::string_view name, const Want& want,
                      const std::vector<KnownVersion>& versions, Prereleases prereleases) {
  return {ErrorKind::not_found,
          fmt::format("no version of {} satisfies {}; available: {}", name, render_want(want),
                      render_versions(versions)),
          hint_of_versions(name, want, versions, prereleases)};
}

Error no_common_version(std::string_view name, const std::vector<const Want*>& wants,
                        const std::vector<KnownVersion>& versions) {
  return {ErrorKind::conflict,
          fmt::format("no version of {} satisfies all requirements: {}", name, render_wants(wants)),
          versions.empty() ? std::string("relax one of the requirements")
                           : fmt::format("relax one of the requirements; available: {}",
                                         render_versions(versions))};
}

std::string shown_python(const Target& target) {
  const auto& numbers = target.python_version.release;
  if (!target.assumed_release || numbers.size() < 2)
    return wheel::render_version(target.python_version);
  return fmt::format("{}.{}", numbers[0], numbers[1]);
}

std::string hint_for_python(std::string_view needed, const Target& target) {
  if (target.assumed_release)
    return "give the class another Python: `python = \"3.N\"` in [tool.axle.machines]";
  if (target.interpreter_source == "stated") return "state another one with --python-version";
  return fmt::format("use an environment with Python {} (--python)", needed);
}

Error nothing_fits(std::string_view name, const Release& release, const plan::Decision& decision,
                   const Target& target, const Options& options) {
  if (release.built != nullptr && !release.built->has_value()) return release.built->error();
  if (release.family != nullptr && decision.has_variants)
    return no_build_fits(name, release, decision);
  const std::string version = wheel::render_version(release.version);
  if (const std::string needed = other_python_needed(release, target); !needed.empty()) {
    return {ErrorKind::unsupported,
            fmt::format("{} {} needs Python {}, but this is Python {}{}", name, version, needed,
                        shown_python(target), read_from(target.interpreter_source)),
            hint_for_python(needed, target)};
  }
  if (release.summary().wheels == 0 && release.wheels().empty()) {
    return {ErrorKind::unsupported,
            fmt::format("{} {} has no wheel, only a source distribution", name, version),
            build_hint(name, release.version, options)};
  }
  std::vector<std::string> reasons;
  const std::string tags = explain_tags(release, target);
  if (!tags.empty()) reasons.push_back(tags);
  for (const plan::Verdict& verdict : decision.rejected) reasons.push_back(render_verdict(verdict));
  std::vector<plan::SkippedFile> skipped = decision.skipped;
  // The reasons from their tags are already listed.
  if (!tags.empty())
    std::erase_if(skipped,
                  [](const plan::SkippedFile& file) { return file.code == plan::SkipCode::tags; });
  for (std::string& reason : render_skipped(skipped)) reasons.push_back(std::move(reason));
  std::string hint =
      fmt::format("`variant explain {}` shows every wheel with its reason", pinned(name, version));
  if (!release.sdists().empty()) hint += "; or " + build_hint(name, release.version, options);
  return {ErrorKind::unsupported,
          fmt::format("no wheel of {} {} fits this machine: {}", name, version,
                      render_some(reasons, "; ")),
          std::move(hint)};
}

Error label_unavailable(std::string_view name, const Release& release, std::string_view label,
                        const std::vector<std::string>& known, const plan::Decision& decision) {
  const std::string version = wheel::render_version(release.version);
  std::string reason;
  const auto verdict = std::ranges::find(decision.rejected, label, &plan::Verdict::label);
  if (verdict != decision.rejected.end()) {
    reason = fmt::format("variant {} of {} {} does not fit this machine: {}", label, name, version,
                         verdict->reason);
    if (!verdict->facts.empty()) reason += fmt::format(" ({})", render_with_source(verdict->facts));
  } else if (std::ranges::find(known, label) != known.end()) {
    const auto skipped = std::ranges::find_if(decision.skipped, [&](const plan::SkippedFile& file) {
      return std::ranges::any_of(release.candidates, [&](const CandidateWheel& wheel) {
        return wheel.label == label && wheel.file->filename == file.filename;
      });
    });
    reason = fmt::format(
        "variant {} of {} {} cannot be used: {}", label, name, version,
        skipped != decision.skipped.end() ? skipped->reason : "none of its wheels fits");
  } else {
    reason = fmt::format("{} {} has no variant {}", name, version, label);
  }
  std::string hint = known.empty() ? fmt::format("{} {} has no variants", name, version)
                                   : fmt::format("the variants of {} {} are {}", name, version,
                                                 fmt::join(known, ", "));
  if (!decision.ranked.empty()) {
    const std::string& best = decision.ranked.front().label;
    hint = fmt::format("{} is the best that fits: `variant install --variant {} {}`; {}", best,
                       shell_word(fmt::format("{}={}", name, best)), pinned(name, version), hint);
  }
  if (std::ranges::find(known, label) == known.end()) hint = text::suggest(label, known, hint);
  return {ErrorKind::unsupported, std::move(reason), std::move(hint)};
}

}  // namespace axle::resolver
