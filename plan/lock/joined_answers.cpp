// From the answers for classes to the packages of a lock.

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "index/http/url.h"
#include "plan/lock/lock.h"
#include "wheel/attestation/publisher.h"

namespace axle::plan {
namespace {

using Texts = std::set<std::string, std::less<>>;

/// Without a login, and relative to the folder of the lock, whose URL is `base`, if it is below it.
std::string kept_place(const std::string& place, const std::string& base) {
  const std::string own =
      place.starts_with('/') ? index::file_url(place) : index::without_credentials(place);
  if (own == base || own == base + "/") return ".";
  if (!own.starts_with(base + "/")) return place.starts_with('/') ? place : own;
  std::string rest = own.substr(base.size() + 1);
  // A colon in the first segment would make a scheme of what is before it.
  return rest.find(':') < rest.find('/') ? "./" + rest : rest;
}

/// Of what is named by a relative place: relative to the folder also where it is beside it. Only
/// what shares no folder but the root is elsewhere.
std::string kept_neighbour(const std::string& place, const std::string& base) {
  constexpr std::string_view scheme = "file://";
  std::string own = kept_place(place, base);
  if (!own.starts_with("file:///")) return own;
  const auto part = [&](std::string_view url) {
    return std::filesystem::path(url.substr(scheme.size())).relative_path();
  };
  const std::filesystem::path there = part(own);
  const std::filesystem::path here = part(base);
  if (there.empty() || here.empty() || *there.begin() != *here.begin()) return own;
  return there.lexically_relative(here).string();
}

/// `{label}` and `{version}` of a family's template have the values of this package.
std::string kept_source(const ResolvedPackage& package, const std::string& base) {
  if (package.direct) return {};
  std::string source = package.source;
  const auto fill = [&](std::string_view mark, const std::string& value) {
    for (std::size_t at = source.find(mark); at != std::string::npos;
         at = source.find(mark, at + value.size()))
      source.replace(at, mark.size(), value);
  };
  if (!package.family.empty()) {
    fill("{label}", package.variant.value_or(""));
    fill("{version}", wheel::render_version(package.version.public_version()));
  }
  return kept_place(source, base);
}

LockedPackage without_needs(const ResolvedPackage& package, const std::string& base,
                            const PackageNames& placed_relative) {
  const auto kept = [&](const std::string& place) {
    const bool is_relative = package.direct && placed_relative.contains(package.name);
    return is_relative ? kept_neighbour(place, base) : kept_place(place, base);
  };
  LockedPackage locked;
  locked.name = package.name;
  locked.version = package.version;
  locked.variant = package.variant;
  locked.family = package.family;
  locked.properties = package.variant_properties;
  locked.supported = package.supported_properties;
  locked.source = kept_source(package, base);
  locked.stands_for = package.stands_for;
  if (package.built_from) {
    locked.built_from = package.built_from;
    BuiltFrom& from = *locked.built_from;
    from.builder.clear();
    from.hash_is_given = false;
    if (from.kind != BuiltFrom::Kind::repository) from.url = kept(from.url);
    return locked;
  }
  locked.filename = package.filename;
  locked.url = kept(package.recorded_url());
  locked.sha256 = std::string(package.hash.sha256());
  locked.size = package.size;
  locked.provenance = package.provenance;
  if (package.attestation) {
    Texts publishers;
    for (const wheel::VerifiedAttestation& one : package.attestation->verified)
      publishers.insert(wheel::render_publisher(one.publisher));
    locked.publishers.assign(publishers.begin(), publishers.end());
  }
  return locked;
}

struct NeedTexts {
  Texts always;
  std::map<std::string, Texts, std::less<>> extras;
};

Texts render_needs(const std::vector<wheel::Requirement>& requirements) {
  Texts texts;
  for (wheel::Requirement requirement : requirements) {
    requirement.name = wheel::normalize_name(requirement.name);
    requirement.url = index::without_credentials(requirement.url);
    texts.insert(wheel::render_requirement(requirement));
  }
  return texts;
}

NeedTexts render_needs(const Needs& needs) {
  NeedTexts texts{render_needs(needs.always), {}};
  for (const auto& [extra, requirements] : needs.extras)
    texts.extras.emplace(extra, render_needs(requirements));
  return texts;
}

bool has_marker(const std::string& requirement) {
  const auto parsed = wheel::parse_requirement(requirement);
  return parsed && parsed->marker;
}

std::string without_marker(const std::string& requirement) {
  auto parsed = wheel::parse_requirement(requirement);
  if (!parsed) return requirement;
  parsed->marker.reset();
  return wheel::render_requirement(*parsed);
}

/// What one class has and the other has not differs by a marker, which the lock can say.
bool differ_by_markers(const Texts& one, const Texts& other) {
  std::vector<std::string> differing;
  std::ranges::set_symmetric_difference(one, other, std::back_inserter(differing));
  return std::ranges::all_of(differing, has_marker);
}

bool differ_by_markers(const NeedTexts& one, const NeedTexts& other) {
  return differ_by_markers(one.always, other.always) &&
         std::ranges::all_of(one.extras, [&](const auto& entry) {
           const auto same = other.extras.find(entry.first);
           return same == other.extras.end() || differ_by_markers(entry.second, same->second);
         });
}

/// A marker that holds in each of the `lists` is left out.
std::vector<std::string> joined(const std::vector<const Texts*>& lists) {
  std::map<std::string, std::size_t, std::less<>> counts;
  for (const Texts* list : lists)
    for (const std::string& text : *list) ++counts[text];
  Texts texts;
  for (const auto& [text, count] : counts)
    texts.insert(count == lists.size() ? without_marker(text) : text);
  return {texts.begin(), texts.end()};
}

/// An entry of the lock that comes about, and what it needs in each of its classes.
struct Draft {
  LockedPackage package;  ///< without classes, and without what it was chosen for
  std::string because;
  std::vector<std::string> classes = {};
  std::vector<NeedTexts> needs = {};

  [[nodiscard]] bool takes(const LockedPackage& other, const NeedTexts& others) const {
    // Of one file the version is written in one way.
    return package == other && package.filename == other.filename &&
           (!package.filename.empty() ||
            wheel::render_version(package.version) == wheel::render_version(other.version)) &&
           std::ranges::all_of(
               needs, [&](const NeedTexts& one) { return differ_by_markers(one, others); });
  }

  LockedPackage finish() && {
    std::vector<const Texts*> always;
    std::map<std::string, std::vector<const Texts*>, std::less<>> extras;
    for (const NeedTexts& one : needs) {
      always.push_back(&one.always);
      for (const auto& [extra, texts] : one.extras) extras[extra].push_back(&texts);
    }
    package.classes = std::move(classes);
    package.because = std::move(because);
    package.needs.always = joined(always);
    for (const auto& [extra, lists] : extras) package.needs.extras[extra] = joined(lists);
    return std::move(package);
  }
};

}  // namespace

std::vector<LockedPackage> join_answers(const std::vector<ClassAnswer>& answers,
                                        const std::string& folder,
                                        const PackageNames& placed_relative) {
  const std::string base = index::file_url(folder);
  std::map<std::string, std::vector<Draft>, std::less<>> drafts;
  for (const ClassAnswer& answer : answers) {
    for (const ResolvedPackage& package : answer.resolution.packages) {
      LockedPackage locked = without_needs(package, base, placed_relative);
      NeedTexts needs = render_needs(package.needs);
      std::vector<Draft>& known = drafts[package.name];
      auto draft =
          std::ranges::find_if(known, [&](const Draft& one) { return one.takes(locked, needs); });
      if (draft == known.end()) {
        const bool explained = package.variant && !package.built_from;
        draft = known.insert(known.end(),
                             Draft{.package = std::move(locked),
                                   .because = explained ? package.decision.chosen_because : ""});
      }
      draft->classes.push_back(answer.about.name);
      draft->needs.push_back(std::move(needs));
    }
  }
  std::vector<LockedPackage> packages;
  for (auto& [name, of_name] : drafts) {
    const auto begin = static_cast<std::ptrdiff_t>(packages.size());
    for (Draft& draft : of_name) {
      LockedPackage package = std::move(draft).finish();
      // Entries of one file stay in the order of their classes.
      const auto place = std::upper_bound(
          packages.begin() + begin, packages.end(), package,
          [](const LockedPackage& left, const LockedPackage& right) {
            return std::tie(left.version, left.filename) < std::tie(right.version, right.filename);
          });
      packages.insert(place, std::move(package));
    }
  }
  return packages;
}

}  // namespace axle::plan
