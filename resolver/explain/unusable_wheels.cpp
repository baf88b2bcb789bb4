#include "resolver/explain/unusable_wheels.h"

#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "detect/os/macos.h"
#include "resolver/explain/messages.h"
#include "wheel/linux_platform.h"
#include "wheel/specifier.h"
#include "wheel/system_platform.h"

namespace axle::resolver {
namespace {

constexpr std::size_t max_listed_wheels = 4;

std::string render_few(const std::vector<std::string>& items) {
  const auto shown = static_cast<std::ptrdiff_t>(std::min(items.size(), max_listed_wheels));
  std::string text = fmt::format("{}", fmt::join(items.begin(), items.begin() + shown, ", "));
  if (items.size() > max_listed_wheels)
    text += fmt::format(" and {} more", items.size() - max_listed_wheels);
  return text;
}

void add_once(std::vector<std::string>& items, std::string item) {
  if (std::ranges::find(items, item) == items.end()) items.push_back(std::move(item));
}

std::string system_of(std::string_view platform) {
  if (wheel::parse_linux_platform(platform)) return "Linux";
  if (platform.starts_with("win")) return "Windows";
  if (platform.starts_with("macosx")) return "macOS";
  if (platform.starts_with("ios")) return "iOS";
  if (platform.starts_with("android")) return "Android";
  return std::string(platform);
}

/// What a platform tag asks for: a system, and of it a C library or a version.
struct AskedPlatform {
  std::string system;
  std::string libc;  ///< "glibc", "musl"; "macOS", whose versions count as those of a C library
  std::pair<unsigned, unsigned> version;
  std::string architecture;
};

/// nullopt: nothing of it but its system is known, or it is any Linux.
std::optional<AskedPlatform> asked_by(std::string_view platform) {
  if (auto of = wheel::parse_linux_platform(platform))
    return AskedPlatform{"Linux", std::move(of->libc), of->version, std::move(of->architecture)};
  const auto of = wheel::parse_system_platform(platform);
  if (!of) return std::nullopt;
  std::string system = system_of(platform);
  std::string libc = of->system == wheel::mac_system ? system : std::string();
  return AskedPlatform{std::move(system), std::move(libc), of->version,
                       wheel::machine_name(of->system, of->architecture)};
}

/// What this machine is: its newest platform tag says.
std::optional<AskedPlatform> platform_of(const Target& target) {
  std::optional<AskedPlatform> newest;
  for (const wheel::Tag& tag : target.tags.best_first()) {
    auto platform = asked_by(tag.platform);
    if (platform && (!newest || newest->version < platform->version)) newest = std::move(platform);
  }
  return newest;
}

/// macOS runs fat files as well.
bool has_other_architecture(const AskedPlatform& asked, const AskedPlatform& here) {
  const bool fat = asked.architecture == "universal2";
  return !fat && asked.architecture != here.architecture;
}

/// What platforms are for, none of which fits.
struct OtherPlatforms {
  std::optional<AskedPlatform> here;
  std::optional<std::pair<unsigned, unsigned>> oldest;  ///< C library of this kind that one needs
  std::vector<std::string> libcs;
  std::vector<std::string> architectures;
  std::vector<std::string> systems;
};

OtherPlatforms judge_platforms(const std::vector<std::string>& platforms, const Target& target) {
  OtherPlatforms judged;
  judged.here = platform_of(target);
  const auto& here = judged.here;
  for (const std::string& platform : platforms) {
    const auto of = asked_by(platform);
    if (!of || !here || of->system != here->system) {
      add_once(judged.systems, system_of(platform));
    } else if (has_other_architecture(*of, *here)) {
      add_once(judged.architectures, of->architecture);
    } else if (of->libc != here->libc) {
      add_once(judged.libcs, of->libc);
    } else if (!judged.oldest || of->version < *judged.oldest) {
      judged.oldest = of->version;
    }
  }
  return judged;
}

/// Of a machine that is stated or recorded, detection knows it.
std::string source_of_libc(const Target& target) {
  const detect::Libc& libc = target.machine->libc;
  const auto here = platform_of(target);
  const auto source = libc.sources.find("version");
  const bool is_it = here && source != libc.sources.end() && here->libc == libc.family &&
                     here->version == std::pair(libc.major, libc.minor);
  return is_it ? source->second : target.platform_source;
}

std::string explain_platforms(const std::vector<std::string>& platforms, const Target& target) {
  const OtherPlatforms of = judge_platforms(platforms, target);
  const auto& here = of.here;
  const detect::Os& os = target.machine->os;
  const auto own = detect::macos_version(os);
  // From 11 on the tags of macOS have no second number but 0: macosx_15_1 is of no machine.
  if (here && of.oldest && own && *own >= *of.oldest)
    return fmt::format("its wheels are tagged for {} {}.{}, a tag that no {} takes", here->libc,
                       of.oldest->first, of.oldest->second, here->libc);
  if (here && of.oldest && own) {
    const auto source = os.sources.find("name");
    return fmt::format(
        "its wheels need {} {}.{} or newer, but this machine has {}{}", here->libc,
        of.oldest->first, of.oldest->second, os.name,
        read_from(source == os.sources.end() ? target.platform_source : source->second));
  }
  if (here && of.oldest)
    return fmt::format("its wheels need {0} {1}.{2} or newer, but this machine has {0} {3}.{4}{5}",
                       here->libc, of.oldest->first, of.oldest->second, here->version.first,
                       here->version.second, read_from(source_of_libc(target)));
  if (!of.libcs.empty())
    return fmt::format("its wheels for Linux are for the C library {}, but this machine has {}{}",
                       render_few(of.libcs), here->libc, read_from(source_of_libc(target)));
  if (!of.architectures.empty())
    return fmt::format("its wheels for {} are for {}, but this machine is {}{}", here->system,
                       render_few(of.architectures), here->architecture,
                       read_from(target.platform_source));
  return fmt::format("its wheels are for {} only", render_few(of.systems));
}

Fact platform_fact(const std::vector<std::string>& platforms, const Target& target) {
  const OtherPlatforms of = judge_platforms(platforms, target);
  const auto version = [](const std::pair<unsigned, unsigned>& number) {
    return fmt::format("{}.{}", number.first, number.second);
  };
  if (of.here && of.oldest)
    return {FactCode::system_version_bound,
            of.here->libc,
            {version(*of.oldest)},
            {version(of.here->version)},
            source_of_libc(target)};
  const std::vector<std::string> here{of.here ? of.here->architecture : std::string()};
  if (!of.libcs.empty())
    return {FactCode::platform, {}, of.libcs, {of.here->libc}, source_of_libc(target)};
  if (!of.architectures.empty())
    return {FactCode::platform, {}, of.architectures, here, target.platform_source};
  return {FactCode::platform,
          {},
          of.systems,
          {of.here ? of.here->system : std::string("Linux")},
          target.platform_source};
}

/// Of interpreters none of which fits: "cp39", "cp312-abi3".
std::string explain_interpreters(const std::vector<std::string>& interpreters,
                                 const Target& target) {
  const std::vector<wheel::Tag>& tags = target.tags.best_first();
  return fmt::format(
      "its wheels are for other interpreters ({}), but this one is {}{}", render_few(interpreters),
      wheel::render_version(target.python_version),
      tags.empty() ? "" : fmt::format(" ({}-{})", tags.front().python, tags.front().abi));
}

/// Tags of wheels of which none fits.
struct UnfitTags {
  std::vector<std::string> platforms;     ///< of wheels for this interpreter
  std::vector<std::string> interpreters;  ///< of wheels for this platform
  std::vector<std::string> all_platforms;
};

UnfitTags unfit_tags(const Release& release, const Target& target) {
  std::set<std::string_view> platforms;
  std::set<std::pair<std::string_view, std::string_view>> interpreters;
  for (const wheel::Tag& tag : target.tags.best_first()) {
    platforms.insert(tag.platform);
    interpreters.emplace(tag.python, tag.abi);
  }
  UnfitTags unfit;
  for (const CandidateWheel& wheel : release.candidates) {
    if (wheel.tag_index != wheel::SupportedTags::npos) return {};
    for (const wheel::Tag& tag : wheel.name.tags) {
      const bool platform = platforms.contains(tag.platform);
      const bool interpreter = interpreters.contains({tag.python, tag.abi});
      if (interpreter && !platform) add_once(unfit.platforms, tag.platform);
      if (platform && !interpreter)
        add_once(unfit.interpreters, tag.abi == "none" || tag.abi == tag.python
                                         ? tag.python
                                         : fmt::format("{}-{}", tag.python, tag.abi));
      if (!platform) add_once(unfit.all_platforms, tag.platform);
    }
  }
  return unfit;
}

}  // namespace

std::string other_python_needed(const Release& release, const Target& target) {
  wheel::Version python = target.python_version;
  python.pre.reset();
  python.dev.reset();
  std::vector<std::string> needed;
  for (const std::string& one : release.pythons()) {
    const auto specifiers = wheel::parse_specifiers(one);
    if (!specifiers || specifiers->contains(python)) return {};
    add_once(needed, one);
  }
  return render_few(needed);
}

std::string explain_tags(const Release& release, const Target& target) {
  const UnfitTags unfit = unfit_tags(release, target);
  if (!unfit.platforms.empty()) return explain_platforms(unfit.platforms, target);
  if (!unfit.interpreters.empty()) return explain_interpreters(unfit.interpreters, target);
  return unfit.all_platforms.empty() ? std::string()
                                     : explain_platforms(unfit.all_platforms, target);
}

Facts unusable_facts(const Release& release, const Target& target) {
  if (std::string python = other_python_needed(release, target); !python.empty()) {
    return {{FactCode::system_version_bound,
             "Python",
             {std::move(python)},
             {shown_python(target)},
             target.interpreter_source}};
  }
  UnfitTags unfit = unfit_tags(release, target);
  if (!unfit.platforms.empty()) return {platform_fact(unfit.platforms, target)};
  if (!unfit.interpreters.empty()) {
    return {{FactCode::system_version,
             "Python",
             std::move(unfit.interpreters),
             {shown_python(target)},
             target.interpreter_source}};
  }
  if (unfit.all_platforms.empty()) return {};
  return {platform_fact(unfit.all_platforms, target)};
}

}  // namespace axle::resolver
