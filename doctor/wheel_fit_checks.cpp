// Wheels of another Python, C library or platform than the interpreter's.
#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "doctor/audit/release_needs.h"
#include "doctor/environment_checks.h"
#include "doctor/fixes.h"
#include "installer/file_access.h"
#include "wheel/tag.h"

namespace axle::doctor {

namespace {

using wheel::Tag;
using wheel::TagTarget;

constexpr std::uint64_t largest_wheel_file = 1U << 20;  // bytes
/// More than of other findings: each is another package, with a wheel of its own.
constexpr std::size_t most_misfits_shown = 20;

/// The lines "Tag: cp311-cp311-linux_x86_64" of WHEEL; empty: nothing is known.
std::vector<Tag> tags_of(const InstalledPackageFiles& package) {
  std::vector<Tag> tags;
  const auto text =
      installer::read_file(package.distribution.dist_info + "/WHEEL", largest_wheel_file);
  std::string_view rest = text ? std::string_view(*text) : std::string_view();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(rest.size(), end + 1));
    constexpr std::string_view key = "Tag:";
    if (!line.starts_with(key)) continue;
    line.remove_prefix(key.size());
    while (line.starts_with(' ')) line.remove_prefix(1);
    while (line.ends_with(' ') || line.ends_with('\r')) line.remove_suffix(1);
    const auto parsed = wheel::parse_tags(line);
    if (!parsed) return {};
    tags.insert(tags.end(), parsed->begin(), parsed->end());
  }
  return tags;
}

std::string render_python(const TagTarget& target) {
  return target.abis.empty() ? fmt::format("{}{}{}", target.implementation, target.python_major,
                                           target.python_minor)
                             : target.abis.front();
}

/// "glibc 2.36 x86_64", "win_amd64".
std::string render_platform(const TagTarget& target) {
  if (!target.platforms.empty())
    return target.platforms.front() == "any" ? std::string("a platform that nothing is known of")
                                             : target.platforms.front();
  return (target.libc_family.empty()
              ? std::string("an unknown C library")
              : fmt::format("{} {}.{}", target.libc_family, target.libc_major, target.libc_minor)) +
         " " + target.architecture;
}

/// Why a package does not fit the interpreter.
struct WheelMisfit {
  /// Each a finding of its own: what one does about them differs.
  enum class Kind : std::uint8_t {
    python,
    libc,
    platform,  ///< another system or architecture
    modules,   ///< the wheel fits: what does not is never loaded
  };
  InstalledPackageFiles* package;
  Evidence evidence;
  std::string needs;  ///< "cp312", "musllinux_1_2_x86_64"
  Kind kind;
};

std::optional<WheelMisfit> judge_tags(InstalledPackageFiles& package, const TagTarget& target,
                                      const wheel::SupportedTags& supported) {
  const std::vector<Tag> tags = tags_of(package);
  constexpr std::size_t none = wheel::SupportedTags::npos;
  if (tags.empty() || supported.best_index(tags) != none) return std::nullopt;
  const std::string native =
      target.platforms.empty() ? "linux_" + target.architecture : target.platforms.front();
  std::vector<Tag> here = tags;
  for (Tag& tag : here) tag.platform = tag.platform == "any" ? tag.platform : native;
  const bool other_python = supported.best_index(here) == none;
  // Without a known libc no manylinux tag is supported.
  if (!other_python && target.platforms.empty() && target.libc_family.empty()) return std::nullopt;
  const Tag& first = tags.front();
  const bool same_system = target.platforms.empty() && first.platform.contains("linux") &&
                           first.platform.ends_with("_" + target.architecture);
  using enum WheelMisfit::Kind;
  return WheelMisfit{&package,
                     {package.distribution.dist_info + "/WHEEL", "Tag", wheel::render_tag(first)},
                     other_python ? fmt::format("{}-{}", first.python, first.abi) : first.platform,
                     other_python  ? python
                     : same_system ? libc
                                   : platform};
}

/// "libc.musl-x86_64.so.1" where musl's distributions have it.
bool is_for_musl(const InstalledLibrary& library) {
  return std::ranges::any_of(library.facts.needed, [](const std::string& needed) {
    return needed.starts_with("libc.musl-") || needed.starts_with("ld-musl-");
  });
}
bool is_for_glibc(const InstalledLibrary& library) {
  return std::ranges::find(library.facts.needed, "libc.so.6") != library.facts.needed.end();
}

/// Of a package whose libraries all are for the other C library: one; nullptr: there are others.
const InstalledLibrary* of_other_libc(std::span<const InstalledLibrary* const> libraries,
                                      const std::string& family) {
  const InstalledLibrary* other = nullptr;
  for (const InstalledLibrary* library : libraries) {
    const bool musl = is_for_musl(*library);
    const bool glibc = is_for_glibc(*library);
    if ((family == "glibc" && glibc) || (family == "musl" && musl)) return nullptr;
    if (musl || glibc) other = library;
  }
  return family.empty() ? nullptr : other;
}

/// Of a package whose modules all are for other interpreters: one. A module is there for this one
/// in any of its files: the name up to the first dot is its own. Another system than Linux loads
/// none of them.
const InstalledLibrary* of_other_python(std::span<const InstalledLibrary* const> libraries,
                                        const TagTarget& target) {
  if (target.implementation != "cp" || target.abis.empty()) return nullptr;
  const InstalledLibrary* other = nullptr;
  const std::string other_libc = target.libc_family == "musl" ? "-linux-gnu" : "-linux-musl";
  for (const InstalledLibrary* library : libraries) {
    const std::string name = library->name.substr(library->name.rfind('/') + 1);
    const std::string python = python_of_name(name);
    if (python.empty()) continue;
    const bool fits =
        target.platforms.empty() &&
        (python == "abi3" || (std::ranges::find(target.abis, python) != target.abis.end() &&
                              (target.libc_family.empty() || !name.contains(other_libc))));
    if (fits) return nullptr;
    other = library;
  }
  return other;
}

std::optional<WheelMisfit> judge_libraries(InstalledPackageFiles& package,
                                           std::span<const InstalledLibrary* const> libraries,
                                           const TagTarget& target) {
  if (const InstalledLibrary* library = of_other_libc(libraries, target.libc_family)) {
    const std::string libc = is_for_musl(*library) ? "musl" : "glibc";
    return WheelMisfit{&package,
                       {library->name, ".dynamic", fmt::format("is linked with {}", libc)},
                       libc,
                       WheelMisfit::Kind::libc};
  }
  if (const InstalledLibrary* library = of_other_python(libraries, target)) {
    const std::string name = library->name.substr(library->name.rfind('/') + 1);
    const std::string python = python_of_name(name);
    return WheelMisfit{&package,
                       {library->name, "", fmt::format("is a module for {}", python)},
                       python,
                       WheelMisfit::Kind::modules};
  }
  return std::nullopt;
}

/// Each package by itself: the index may have no wheel that fits for one of them.
Hint reinstall_each(const std::vector<WheelMisfit>& misfits, const InstalledFiles& files) {
  Hint hint;
  for (const WheelMisfit& misfit : misfits) {
    Hint one = reinstall({misfit.package}, files);
    if (!one.words.empty()) hint.words += (hint.words.empty() ? "" : "; ") + one.words;
    for (std::string& command : one.commands) {
      if (std::ranges::find(hint.commands, command) == hint.commands.end())
        hint.commands.push_back(std::move(command));
    }
  }
  hint.apart = true;
  return hint;
}

/// Several for one reason.
void say_misfits(const std::vector<WheelMisfit>& misfits, const InstalledFiles& files,
                 Findings& findings) {
  const TagTarget& target = files.environment.tag_target;
  const bool modules = misfits.front().kind == WheelMisfit::Kind::modules;
  std::vector<std::string> needs;
  for (const WheelMisfit& misfit : misfits) {
    if (std::ranges::find(needs, misfit.needs) == needs.end()) needs.push_back(misfit.needs);
  }
  const std::size_t shown = std::min(needs.size(), most_examples);
  const std::string title = misfits.front().package->title;
  Finding& finding = findings.add(
      "wheel-foreign",
      misfits.size() == 1 ? title : fmt::format("{} and {} more", title, misfits.size() - 1),
      fmt::format(
          "{} for {}{}, and this interpreter is {} on {}",
          modules               ? "its compiled modules are"
          : misfits.size() == 1 ? "its wheel is"
                                : "the wheels are",
          fmt::join(needs.begin(), needs.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
          needs.size() > shown ? fmt::format(" and {} more", needs.size() - shown) : "",
          render_python(target), render_platform(target)));
  if (modules) finding.level = FindingLevel::warning;
  for (const WheelMisfit& misfit : misfits) {
    if (finding.evidence.size() == most_misfits_shown) break;
    finding.evidence.push_back(misfit.evidence);
  }
  // Nothing for another system is installed into an environment of this one.
  finding.hint = target.platforms.empty()
                     ? reinstall_each(misfits, files)
                     : Hint("create the environment again on that machine, with its own Python");
}

}  // namespace

void check_wheel_fit(InstalledFiles& files, Findings& findings) {
  const TagTarget& target = files.environment.tag_target;
  const wheel::SupportedTags supported = wheel::supported_tags(target);
  std::map<std::size_t, std::vector<const InstalledLibrary*>> libraries;
  std::set<std::size_t> elsewhere;  // for another architecture: that has a finding of its own
  for (const InstalledLibrary& library : files.libraries) {
    if (library.facts.architecture == target.architecture) {
      libraries[library.package].push_back(&library);
    } else {
      elsewhere.insert(library.package);
    }
  }
  std::vector<WheelMisfit> misfits;
  for (std::size_t i = 0; i < files.packages.size(); ++i) {
    InstalledPackageFiles& package = files.packages[i];
    auto misfit = judge_tags(package, target, supported);
    if (!misfit && !elsewhere.contains(i)) misfit = judge_libraries(package, libraries[i], target);
    if (!misfit) continue;
    package.foreign_wheel = misfit->kind != WheelMisfit::Kind::modules;
    misfits.push_back(std::move(*misfit));
  }
  using enum WheelMisfit::Kind;
  for (const WheelMisfit::Kind kind : {python, libc, platform, modules}) {
    std::vector<WheelMisfit> alike;
    std::ranges::copy_if(misfits, std::back_inserter(alike),
                         [&](const WheelMisfit& misfit) { return misfit.kind == kind; });
    if (!alike.empty()) say_misfits(alike, files, findings);
  }
}

}  // namespace axle::doctor
