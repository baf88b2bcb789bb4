// The releases of a family's projects, out of its own pages and another index.

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "resolver/catalogue/index_candidates.h"
#include "resolver/catalogue/page_releases.h"
#include "resolver/family/family_releases.h"

namespace axle::resolver {
namespace {

bool is_of_release(const index::PublishedFile& file, const wheel::Version& version) {
  const auto name = wheel::parse_wheel_name(file.filename);
  return name && name->version.public_version() == version;
}

bool has_wheel(const Release& release) { return !release.wheels().empty(); }

}  // namespace

Result<std::vector<Release>> IndexCandidates::joined_releases(const index::Family& family,
                                                              index::Source* index,
                                                              std::string_view name) {
  const auto own = page(&sources_.families->source(family), name);
  if (!own) return std::unexpected(own.error());
  std::vector<Release> releases = std::move((*own)->releases);
  claim_releases(releases, family, name);
  if (index == nullptr) return releases;
  const auto others = page(index, name);
  if (!others) return std::unexpected(others.error());
  join_releases(releases, std::move((*others)->releases), family, name);
  return releases;
}

Result<std::vector<Release>> IndexCandidates::releases_with_pages(const index::Family& family,
                                                                  index::Source* index,
                                                                  std::string_view name) {
  std::vector<Release> releases;
  if (index == nullptr) return releases;
  const auto known = page(index, name);
  if (!known) return std::unexpected(known.error());
  join_releases(releases, std::move((*known)->releases), family, name);
  index::FamilySource& source = sources_.families->source(family);
  for (Release& release : releases) {
    const bool labelled = std::ranges::any_of(
        release.wheels(), [](const auto& file) { return file.filename.contains('+'); });
    // Whoever carries builds with labels is not second-guessed.
    if (release.family == nullptr || labelled ||
        index::find_release(family, name, release.version) == nullptr) {
      continue;
    }
    for (const index::FamilyLabel& label : family.labels) {
      auto local = wheel::parse_version(
          fmt::format("{}+{}", wheel::render_version(release.version), label.name));
      if (local) release.local_versions.push_back(std::move(*local));
    }
    release.expect_more(
        [&source, name = std::string(name), version = release.version,
         this]() -> Result<std::vector<index::PublishedFile>> {
          report_.progress({name, 0, 0});
          auto page = source.release(name, version);
          if (!page) return std::unexpected(std::move(page).error());
          withhold(*page, &source, name);
          std::erase_if(page->files, [&](const index::PublishedFile& file) {
            return file.label.empty() || !is_of_release(file, version);
          });
          for (index::PublishedFile& file : page->files) file.source = origin(source.description());
          return std::move(page->files);
        },
        static_cast<std::uint32_t>(family.labels.size()));
  }
  return releases;
}

Result<bool> IndexCandidates::has_wheels(index::Source* index, std::string_view name) {
  std::vector<index::Source*> places = sources_.find_links;
  if (index != nullptr) places.push_back(index);
  for (index::Source* place : places) {
    const auto known = page(place, name);
    if (!known) return std::unexpected(known.error());
    if (std::ranges::any_of((*known)->releases, has_wheel)) return true;
  }
  return false;
}

Result<std::vector<Release>> IndexCandidates::built_for_releases(const index::Family& family,
                                                                 index::Source* index,
                                                                 std::string_view name) {
  // Whoever carries wheels is not second-guessed.
  const auto carried = has_wheels(index, name);
  if (!carried) return std::unexpected(carried.error());
  std::vector<Release> releases;
  if (index != nullptr) releases = std::move((*page(index, name))->releases);
  if (*carried) return releases;
  index::FamilySource& source = sources_.families->source(family);
  index::ProjectPage all{std::string(name), source.description(), {}, true};
  if (family.is_by_release()) {
    std::vector<const Release*> known;
    for (const Release& release : releases) {
      if (index::find_release(family, name, release.version) != nullptr) known.push_back(&release);
    }
    for (const Release* release : known) source.prefetch_release(name, release->version);
    for (const Release* release : known) {
      auto own = source.release(name, release->version);
      if (!own) return std::unexpected(std::move(own).error());
      std::ranges::move(own->files, std::back_inserter(all.files));
    }
  } else {
    auto own = source.project(name);
    if (!own) return std::unexpected(std::move(own).error());
    all = std::move(*own);
  }
  Page own = read_whole(std::move(all), source, name, &family);
  claim_local_versions(own.releases, family);
  std::ranges::move(own.releases, std::back_inserter(releases));
  std::ranges::sort(releases, std::ranges::greater{}, &Release::version);
  return releases;
}

}  // namespace axle::resolver
