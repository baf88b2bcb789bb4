#include "resolver/catalogue/index_candidates.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "index/http/first_download.h"
#include "index/http/redaction.h"
#include "index/pages/remote_wheel.h"
#include "resolver/catalogue/direct_release.h"
#include "resolver/catalogue/page_releases.h"
#include "resolver/family/families.h"
#include "resolver/family/family_releases.h"
#include "wheel/requirement.h"

namespace axle::resolver {

Result<IndexCandidates::Page*> IndexCandidates::page(index::Source* source, std::string_view name) {
  Pages& pages = pages_[source];
  const auto give = [&](Page& page) {
    if (!unasked_ && !page.detail.empty()) report_.detail(std::exchange(page.detail, {}));
    return &page;
  };
  if (const auto known = pages.find(name); known != pages.end()) return give(known->second);
  if (const auto unread = unread_.find({source, std::string(name)}); unread != unread_.end())
    return std::unexpected(unread->second);
  if (!unasked_) report_.progress({name, 0, 0});
  const auto being_read = being_read_.emplace(source, name).first;
  auto read = read_page(*source, name);
  being_read_.erase(being_read);
  if (!read) {
    // An index that cannot be used says nothing of the machine: `unsupported` is kept for that.
    Error error = std::move(read).error();
    if (error.kind == ErrorKind::unsupported) error.kind = ErrorKind::malformed;
    return std::unexpected(std::move(error));
  }
  return give(pages.emplace(name, std::move(*read)).first->second);
}

Result<IndexCandidates::Page> IndexCandidates::read_page(index::Source& source,
                                                         std::string_view name) {
  const auto family = family_of(name);
  if (!family) return std::unexpected(family.error());
  if (*family != nullptr || options_.cutoffs.find(name) != nullptr) {
    auto page = source.project(name);
    if (!page) return std::unexpected(std::move(page).error());
    return read_whole(std::move(*page), source, name, *family);
  }
  auto listed = source.listing(name);
  if (!listed) return std::unexpected(std::move(listed).error());
  if (listed->any_exposed()) return read_whole(listed->page(name), source, name, nullptr);
  Page page{{}, listed->absent(), std::make_unique<index::ListedProject>(std::move(*listed))};
  page.releases = listed_releases(*page.listed, origin(source.description()));
  page.detail = describe(name, page.listed->file_count(), page, source);
  return page;
}

IndexCandidates::Page IndexCandidates::read_whole(index::ProjectPage page,
                                                  const index::Source& source,
                                                  std::string_view name,
                                                  const index::Family* family) {
  withhold(page, &source, name);
  if (family != nullptr && family->has_member(name))
    index::label_files(*family, page, /*known_only=*/true);
  const std::size_t files = page.files.size();
  const bool absent = page.absent;
  Page made{group_releases(std::move(page), name, origin(source.description()), family), absent};
  made.detail = describe(name, files, made, source);
  return made;
}

std::string IndexCandidates::describe(std::string_view name, std::size_t files, const Page& page,
                                      const index::Source& source) {
  return fmt::format("{}: {} files of {} releases in {}", name, files, page.releases.size(),
                     source.description());
}

std::string_view IndexCandidates::origin(std::string source) {
  return *origins_.insert(std::move(source)).first;
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

std::set<std::string> IndexCandidates::names_at_hand() {
  std::set<std::string> names;
  for (const auto& [source, pages] : pages_) {
    for (const auto& [name, page] : pages) {
      if (!page.releases.empty()) names.insert(name);
    }
  }
  for (const auto* sources : {&sources_.indexes, &sources_.find_links}) {
    for (index::Source* source : *sources) names.merge(source->names_at_hand());
  }
  if (sources_.families == nullptr) return names;
  const auto families = sources_.families->all();
  if (!families) return names;
  for (const index::Family* family : *families) {
    names.insert(family->members.begin(), family->members.end());
    names.insert(family->unlabelled.begin(), family->unlabelled.end());
  }
  return names;
}

std::string IndexCandidates::assigned_url(std::string_view name) const {
  const AssignedSource* only = assigned(name);
  return only == nullptr ? std::string() : only->url;
}

Result<Release*> IndexCandidates::direct(std::string_view name, const NamedPlaces& places) {
  std::string key;
  for (const std::string& url : places.urls) key += url + "\n";
  if (const auto known = direct_.find(key); known != direct_.end()) return known->second;
  auto made = direct_release(name, places, options_, target_.tags);
  if (!made) return std::unexpected(std::move(made).error());
  made->source = origin(index::redact_url(places.urls.front()));
  return direct_[key] = adopt(std::move(*made));
}

Error IndexCandidates::as_of_release(Error error) const {
  // Without requests there is one reason for that: the cache does not have it.
  if (sources_.offline && error.kind == ErrorKind::io) error.kind = ErrorKind::not_found;
  return error;
}

Result<const ReleaseMetadata*> IndexCandidates::variants(
    std::string_view name, const Release& release,
    const std::vector<const CandidateWheel*>& wheels) {
  if (const auto known = variants_.find(&release); known != variants_.end()) return &known->second;
  auto read = read_release_metadata(name, builds_platform(target_), release, wheels,
                                    *sources_.transport, report_);
  if (!read) return std::unexpected(as_of_release(std::move(read).error()));
  return &variants_.emplace(&release, std::move(*read)).first->second;
}

Result<WheelMetadata> IndexCandidates::metadata(std::string_view name, const Release& release,
                                                const CandidateWheel& wheel) {
  const index::PublishedFile& file = *wheel.file;
  auto known = metadata_.find(file.url);
  if (known == metadata_.end()) {
    report_.progress({file.filename, 0, 0});
    const auto truth = sources_.true_metadata.find(file.url);
    auto text =
        truth != sources_.true_metadata.end()
            ? Result<std::string>(truth->second)
            : index::fetch_metadata(file, wheel.name, release.source, *sources_.transport, report_);
    if (!text) text = std::unexpected(as_of_release(std::move(text).error()));
    keep_metadata(file, text);
    known = metadata_.find(file.url);
  }
  if (!known->second) return std::unexpected(known->second.error());
  const wheel::CoreMetadata& metadata = **known->second;
  if (wheel::normalize_name(metadata.name) != name || metadata.version != wheel.name.version) {
    return fail(ErrorKind::malformed,
                fmt::format("the metadata of {} belongs to {} {}", file.filename, metadata.name,
                            wheel::render_version(metadata.version)));
  }
  return *known->second;
}

const Result<WheelMetadata>& IndexCandidates::keep_metadata(const index::PublishedFile& file,
                                                            const Result<std::string>& text) {
  auto parsed = text ? wheel::parse_core_metadata(*text, index::redact_url(file.url) + ".metadata")
                     : std::unexpected(text.error());
  if (!parsed)
    return metadata_.emplace(file.url, std::unexpected(std::move(parsed).error())).first->second;
  parsed->fields = {};
  parsed->description = {};
  auto kept = std::make_shared<const wheel::CoreMetadata>(std::move(*parsed));
  return metadata_.emplace(file.url, std::move(kept)).first->second;
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
  const bool member = family.has_member(name);
  auto releases = !member                   ? joined_releases(family, nullptr, name)
                  : !family.shares_labels() ? built_for_releases(family, index, name)
                  : family.is_by_release()  ? releases_with_pages(family, index, name)
                                            : joined_releases(family, index, name);
  if (!releases) return std::unexpected(std::move(releases).error());
  std::vector<Release*>& kept = family_releases_[std::string(name)];
  for (Release& release : *releases) kept.push_back(adopt(std::move(release)));
  return kept;
}

Release* IndexCandidates::adopt(Release release) {
  return &adopted_.emplace_back(std::move(release));
}

}  // namespace axle::resolver
