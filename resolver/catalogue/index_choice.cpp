// Which of several indexes gives a package its versions. What uv calls first-index is the default:
// whoever may write into a later index cannot take over a name of an earlier one.

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "resolver/catalogue/index_candidates.h"

namespace axle::resolver {
namespace {

/// What came first stays first among equals.
void merge_releases(std::vector<Release*>& releases, const std::vector<Release*>& more) {
  std::vector<Release*> merged;
  merged.reserve(releases.size() + more.size());
  std::ranges::merge(
      releases, more, std::back_inserter(merged),
      [](const Release* left, const Release* right) { return left->version > right->version; });
  releases = std::move(merged);
}

}  // namespace

const AssignedSource* IndexCandidates::assigned(std::string_view name) const {
  const auto rows = sources_.assigned.find(name);
  if (rows == sources_.assigned.end()) return nullptr;
  for (const AssignedSource& row : rows->second) {
    if (!row.marker || row.marker->evaluate(target_.markers)) return &row;
  }
  return nullptr;
}

Result<void> IndexCandidates::append(std::vector<Release*>& releases, index::Source* source,
                                     std::string_view name) {
  const auto found = page(source, name);
  if (!found) return std::unexpected(found.error());
  std::vector<Release*> own;
  own.reserve((*found)->releases.size());
  for (Release& release : (*found)->releases) own.push_back(&release);
  merge_releases(releases, own);
  return {};
}

Result<std::optional<IndexCandidates::Group>> IndexCandidates::group_of(index::Source* index,
                                                                        std::string_view name,
                                                                        bool last) {
  auto family = family_of(name);
  if (!family) return std::unexpected(std::move(family).error());
  if (last && *family != nullptr) {
    auto own = family_releases(**family, index, name);
    if (!own) return std::unexpected(std::move(own).error());
    return std::move(*own);
  }
  if (index == nullptr) return std::nullopt;
  const auto found = page(index, name);
  if (!found) return std::unexpected(found.error());
  if ((*found)->absent) return std::nullopt;
  Group group;
  if (auto ok = append(group, index, name); !ok) return std::unexpected(ok.error());
  return group;
}

Result<std::vector<IndexCandidates::Group>> IndexCandidates::groups(std::string_view name) {
  std::vector<Group> groups(1);
  if (const AssignedSource* only = assigned(name)) {
    if (only->refusal) return std::unexpected(*only->refusal);
    if (only->index != nullptr) {
      if (auto ok = append(groups.front(), only->index, name); !ok) {
        return std::unexpected(ok.error());
      }
      return groups;
    }
  }
  for (index::Source* source : sources_.find_links) {
    if (auto ok = append(groups.front(), source, name); !ok) return std::unexpected(ok.error());
  }
  std::vector<index::Source*> indexes = sources_.indexes;
  if (indexes.empty()) indexes.push_back(nullptr);
  bool found = false;
  for (index::Source* index : indexes) {
    auto group = group_of(index, name, index == indexes.back());
    if (!group) return std::unexpected(std::move(group).error());
    if (!*group) continue;
    if (sources_.strategy == index::IndexStrategy::unsafe_first_match && found) {
      groups.push_back(std::move(**group));
    } else {
      merge_releases(groups.front(), **group);
    }
    found = true;
    if (sources_.strategy != index::IndexStrategy::first_index) continue;
    if (index != indexes.back()) decisive_.insert_or_assign(std::string(name), index);
    break;
  }
  return groups;
}

Result<std::vector<Release*>> IndexCandidates::releases(std::string_view name) {
  auto found = groups(name);
  if (!found) return std::unexpected(std::move(found).error());
  std::vector<Release*> releases;
  for (const Group& group : *found) releases.insert(releases.end(), group.begin(), group.end());
  return releases;
}

Result<std::vector<Release*>> IndexCandidates::matching(std::string_view name,
                                                        const VersionFilter& filter) {
  auto found = groups(name);
  if (!found) return std::unexpected(std::move(found).error());
  const bool prereleases = filter.admits_prereleases();
  std::vector<Release*> releases;
  for (Group& group : *found) {
    std::erase_if(group, [&](const Release* release) {
      return !filter.contains(*release) ||
             (release->summary().all_yanked && !filter.pins(release->version));
    });
    const auto is_final = [](const Release* r) { return !r->version.is_prerelease(); };
    const bool needed =
        count_if_needed(filter.prereleases) && std::ranges::none_of(group, is_final);
    if (!prereleases && !needed) {
      std::erase_if(group, std::not_fn(is_final));
    }
    releases.insert(releases.end(), group.begin(), group.end());
  }
  return releases;
}

Result<std::vector<KnownVersion>> IndexCandidates::versions(std::string_view name) {
  auto found = groups(name);
  if (!found) return std::unexpected(std::move(found).error());
  Group releases;
  for (const Group& group : *found) merge_releases(releases, group);
  std::vector<KnownVersion> result;
  for (const Release* release : releases) {
    if (!result.empty() && result.back().version == release->version) continue;
    result.push_back({release->version, release->summary().all_yanked});
  }
  return result;
}

std::string IndexCandidates::looked_in(std::string_view name) {
  if (const AssignedSource* only = assigned(name); only != nullptr && only->index != nullptr) {
    return only->index->description();
  }
  std::vector<std::string> places;
  const auto family = family_of(name);
  if (family && *family != nullptr) {
    places.push_back(sources_.families->source(**family).description());
    if (!(*family)->has_member(name)) return places.front();
  }
  const auto decisive = decisive_.find(name);
  for (const auto* sources : {&sources_.indexes, &sources_.find_links}) {
    for (const index::Source* source : *sources) {
      places.push_back(source->description());
      if (decisive != decisive_.end() && source == decisive->second) break;
    }
  }
  return fmt::format("{}", fmt::join(places, ", "));
}

std::string IndexCandidates::why_alone(std::string_view name) {
  if (const AssignedSource* only = assigned(name); only != nullptr && only->index != nullptr) {
    return fmt::format("{} assigns {} to {} only", only->origin, name, only->index->description());
  }
  const auto decisive = decisive_.find(name);
  if (decisive == decisive_.end()) return {};
  std::vector<std::string> others;
  const auto place = std::ranges::find(sources_.indexes, decisive->second);
  for (auto other = std::next(place); other != sources_.indexes.end(); ++other) {
    others.push_back((*other)->description());
  }
  return fmt::format(
      "{} is the first index that has {}, so {} was not queried. If you trust every index, use "
      "--index-strategy unsafe-best-match to consider all of them",
      decisive->second->description(), name, fmt::join(others, ", "));
}

}  // namespace axle::resolver
