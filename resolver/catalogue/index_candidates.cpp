#include "resolver/catalogue/index_candidates.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "index/http/first_download.h"
#include "index/http/redaction.h"
#include "index/pages/remote_wheel.h"
#include "resolver/catalogue/direct_wheel.h"
#include "resolver/catalogue/page_releases.h"
#include "resolver/family/families.h"
#include "resolver/family/family_releases.h"
#include "wheel/requirement.h"

namespace axle::resolver {

Result<IndexCandidates::Page*> IndexCandidates::page(index::Source* source, std::string_view name) {
  Pages& pages = pages_[source];
  if (const auto known = pages.find(name); known != pages.end()) return &known->second;
  report_.progress(name, 0, 0);
  Result<index::ProjectPage> page = source->project(name);
  if (!page) {
    // An index that cannot be used says nothing of the machine: `unsupported` is kept for that.
    Error error = std::move(page).error();
    if (error.kind == ErrorKind::unsupported) error.kind = ErrorKind::malformed;
    return std::unexpected(std::move(error));
  }
  withhold(*page, source, name);
  auto family = family_of(name);
  if (!family) return std::unexpected(std::move(family).error());
  if (*family != nullptr && (*family)->has_member(name))
    index::label_files(**family, *page, /*known_only=*/true);
  const std::size_t files = page->files.size();
  const bool absent = page->absent;
  const auto added = pages.emplace(
      name, Page{group_releases(std::move(*page), name, source->description(), *family), absent});
  report_.detail(fmt::format("{}: {} files of {} releases in {}", name, files,
                             added.first->second.releases.size(), source->description()));
  return &added.first->second;
}

void IndexCandidates::withhold(index::ProjectPage& page, const index::Source* source,
                               std::string_view name) {
  const bool dated = std::ranges::find(sources_.find_links, source) == sources_.find_links.end();
  const WithheldFiles withheld = withhold_files(page, name, dated, options_);
  if (!withheld.any()) return;
  withheld_.insert_or_assign(std::string(name), withheld);
  const std::string text = explain_withheld(name, withheld);
  if (withheld.exposed > 0) {
    report_.warn(fmt::format("{}: {}", source->description(), text));
  } else {
    report_.detail(fmt::format("{}: {}", source->description(), text));
  }
}

Whereabouts IndexCandidates::whereabouts(std::string_view name) {
  const auto withheld = withheld_.find(name);
  return {looked_in(name), why_alone(name),
          withheld == withheld_.end() ? std::string() : explain_withheld(name, withheld->second)};
}

std::string IndexCandidates::assigned_url(std::string_view name) const {
  const AssignedSource* only = assigned(name);
  return only == nullptr ? std::string() : only->url;
}

Result<Release*> IndexCandidates::direct(std::string_view name,
                                         const std::vector<std::string>& urls) {
  std::string key;
  for (const std::string& url : urls) key += url + "\n";
  if (const auto known = direct_.find(key); known != direct_.end()) return known->second;
  auto made = direct_release(name, urls);
  if (!made) return std::unexpected(std::move(made).error());
  return direct_[key] = adopt(std::move(*made));
}

Result<const ReleaseMetadata*> IndexCandidates::variants(
    std::string_view name, const Release& release,
    const std::vector<const CandidateWheel*>& wheels) {
  if (const auto known = variants_.find(&release); known != variants_.end()) return &known->second;
  auto read = read_release_metadata(name, builds_platform(target_), release, wheels,
                                    *sources_.transport, report_);
  if (!read) return std::unexpected(std::move(read).error());
  return &variants_.emplace(&release, std::move(*read)).first->second;
}

Result<const wheel::CoreMetadata*> IndexCandidates::metadata(std::string_view name,
                                                             const Release& release,
                                                             const CandidateWheel& wheel) {
  const index::PublishedFile& file = *wheel.file;
  auto known = metadata_.find(file.url);
  if (known == metadata_.end()) {
    report_.progress(file.filename, 0, 0);
    const auto truth = sources_.true_metadata.find(file.url);
    const auto text =
        truth != sources_.true_metadata.end()
            ? Result<std::string>(truth->second)
            : index::fetch_metadata(file, wheel.name, release.source, *sources_.transport, report_);
    known = metadata_
                .emplace(file.url, text ? wheel::parse_core_metadata(
                                              *text, index::redact_url(file.url) + ".metadata")
                                        : std::unexpected(text.error()))
                .first;
  }
  if (!known->second) return std::unexpected(known->second.error());
  const wheel::CoreMetadata& metadata = *known->second;
  if (wheel::normalize_name(metadata.name) != name || metadata.version != wheel.name.version) {
    return fail(ErrorKind::malformed,
                fmt::format("the metadata of {} belongs to {} {}", file.filename, metadata.name,
                            wheel::render_version(metadata.version)));
  }
  return &metadata;
}

std::optional<std::string> IndexCandidates::first_sha256(const CandidateWheel& wheel) {
  return index::first_sha256(wheel.file->url, *sources_.transport);
}

Result<const index::Family*> IndexCandidates::family_of(std::string_view name) {
  if (sources_.families == nullptr || !options_.variants || options_.plain_only.contains(name))
    return nullptr;
  return sources_.families->of_project(name);
}

Result<std::vector<Release*>> IndexCandidates::family_releases(const index::Family& family,
                                                               index::Source* index,
                                                               std::string_view name) {
  if (const auto known = family_releases_.find(name); known != family_releases_.end())
    return known->second;
  const auto own = page(&sources_.families->source(family), name);
  if (!own) return std::unexpected(own.error());
  std::vector<Release> releases = std::move((*own)->releases);
  claim_releases(releases, family, name);
  if (index != nullptr && family.has_member(name)) {
    const auto others = page(index, name);
    if (!others) return std::unexpected(others.error());
    join_releases(releases, std::move((*others)->releases), family, name);
  }
  std::vector<Release*>& kept = family_releases_[std::string(name)];
  for (Release& release : releases) kept.push_back(adopt(std::move(release)));
  return kept;
}

Release* IndexCandidates::adopt(Release release) {
  return &adopted_.emplace_back(std::move(release));
}

}  // namespace axle::resolver
