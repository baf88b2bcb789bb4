// What will probably be asked of the indexes, sent for before it is.

#include <utility>

#include "index/pages/remote_wheel.h"
#include "resolver/catalogue/index_candidates.h"

namespace axle::resolver {

void IndexCandidates::expect_group(index::Source* index, const std::string& name, bool last) {
  const auto expect_page = [&](index::Source& source) {
    if (!pages_[&source].contains(name)) source.prefetch(name);
  };
  const auto family = family_of(name);
  if (last && family && *family != nullptr) {
    // What a family's builds for torch are is asked only where the index has no wheels.
    if ((*family)->shares_labels() || !(*family)->has_member(name))
      expect_page(sources_.families->source(**family));
    if (index != nullptr && (*family)->has_member(name)) expect_page(*index);
  } else if (index != nullptr) {
    expect_page(*index);
  }
}

void IndexCandidates::expect_releases(const std::vector<std::string>& names) {
  std::vector<std::string> open;
  for (const std::string& name : names) {
    if (!expected_.insert(name).second) continue;
    const AssignedSource* const only = assigned(name);
    if (only == nullptr) {
      open.push_back(name);
    } else if (only->index != nullptr) {
      only->index->prefetch(name);
    }
  }
  if (open.empty()) return;
  for (index::Source* source : sources_.find_links) source->prefetch(open.front());
  std::vector<index::Source*> indexes = sources_.indexes;
  if (indexes.empty()) indexes.push_back(nullptr);
  const bool first_decides = sources_.strategy == index::IndexStrategy::first_index;
  for (index::Source* index : indexes) {
    const bool last = index == indexes.back();
    for (const std::string& name : open) expect_group(index, name, last);
    if (last || !first_decides) continue;
    // A later index is asked only for what this one does not have.
    std::erase_if(open, [&](const std::string& name) {
      const auto found = page(index, name);
      if (!found) unread_.emplace(std::pair(index, name), found.error());
      return !found || !(*found)->absent;
    });
  }
}

bool IndexCandidates::is_at_hand(std::string_view name) {
  const auto has_page = [&](index::Source* source) {
    return pages_[source].contains(name) ||
           (source->has_arrived(name) && !being_read_.contains({source, std::string(name)}));
  };
  const auto family = family_of(name);
  // What is withheld of it, or is a build of a family, is said when somebody asks for it.
  if (!family || *family != nullptr || options_.cutoffs.find(name) != nullptr) return false;
  if (const AssignedSource* only = assigned(name))
    return only->index != nullptr && has_page(only->index);
  for (index::Source* source : sources_.find_links) {
    if (!pages_[source].contains(name)) return false;
  }
  for (index::Source* index : sources_.indexes) {
    if (!has_page(index)) return false;
    if (sources_.strategy != index::IndexStrategy::first_index) continue;
    const auto found = page(index, name);
    if (!found || !(*found)->absent) return found.has_value();
  }
  return !sources_.indexes.empty();
}

std::vector<Release*> IndexCandidates::releases_at_hand(std::string_view name) {
  unasked_ = true;
  auto found = is_at_hand(name) ? releases(name) : std::vector<Release*>{};
  unasked_ = false;
  return found ? std::move(*found) : std::vector<Release*>{};
}

void IndexCandidates::expect_variants(std::string_view /*name*/, const Release& release) {
  if (variants_.contains(&release)) return;
  expect_release_metadata(release, *sources_.transport);
}

void IndexCandidates::expect_metadata(std::string_view /*name*/, const Release& /*release*/,
                                      const CandidateWheel& wheel) {
  const std::string& url = wheel.file->url;
  if (metadata_.contains(url) || sources_.true_metadata.contains(url)) return;
  if (!expected_.insert(url).second) return;
  if (const auto text = index::prefetch_metadata(*wheel.file, *sources_.transport))
    keep_metadata(*wheel.file, *text);
}

WheelMetadata IndexCandidates::known_metadata(std::string_view name, const Release& release,
                                              const CandidateWheel& wheel) {
  const std::string& url = wheel.file->url;
  if (!metadata_.contains(url)) {
    if (sources_.true_metadata.contains(url)) return nullptr;
    auto text = index::arrived_metadata(*wheel.file, *sources_.transport);
    if (!text) return nullptr;
    keep_metadata(*wheel.file, std::move(*text));
  }
  const auto known = metadata(name, release, wheel);
  return known ? *known : nullptr;
}

}  // namespace axle::resolver
