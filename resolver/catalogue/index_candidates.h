#pragma once
// What indexes, find-links places and URLs have: pages are read when they are asked for, and once.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/pages/page.h"
#include "resolver/catalogue/candidates.h"
#include "resolver/catalogue/withheld_files.h"
#include "resolver/request/options.h"
#include "resolver/request/sources.h"
#include "resolver/request/target.h"

namespace axle::resolver {

class IndexCandidates final : public Candidates {
 public:
  /// All must outlive it. Families are silent for packages of which `options` want plain wheels.
  IndexCandidates(const Sources& sources, const Options& options, const Target& target,
                  Report& report)
      : sources_(sources), options_(options), target_(target), report_(report) {}

  [[nodiscard]] Result<std::vector<Release*>> releases(std::string_view name) override;
  /// Newest first among those of one index (with unsafe-best-match: of all), those of find-links
  /// among them.
  [[nodiscard]] Result<std::vector<Release*>> matching(std::string_view name,
                                                       const VersionFilter& filter) override;
  [[nodiscard]] Result<Release*> direct(std::string_view name, const NamedPlaces& places) override;
  [[nodiscard]] Result<std::vector<KnownVersion>> versions(std::string_view name) override;
  [[nodiscard]] Result<const ReleaseMetadata*> variants(
      std::string_view name, const Release& release,
      const std::vector<const CandidateWheel*>& wheels) override;
  [[nodiscard]] Result<WheelMetadata> metadata(std::string_view name, const Release& release,
                                               const CandidateWheel& wheel) override;
  void expect_releases(const std::vector<std::string>& names) override;
  [[nodiscard]] std::vector<Release*> releases_at_hand(std::string_view name) override;
  void expect_variants(std::string_view name, const Release& release) override;
  void expect_metadata(std::string_view name, const Release& release,
                       const CandidateWheel& wheel) override;
  [[nodiscard]] WheelMetadata known_metadata(std::string_view name, const Release& release,
                                             const CandidateWheel& wheel) override;
  [[nodiscard]] std::optional<std::string> first_sha256(const CandidateWheel& wheel) override;
  [[nodiscard]] Result<const index::Family*> family_of(std::string_view name) override;
  [[nodiscard]] std::string assigned_url(std::string_view name) const override;
  [[nodiscard]] Whereabouts whereabouts(std::string_view name) override;
  /// Those of pages that were read, of families, and of indexes that are folders.
  [[nodiscard]] std::set<std::string> names_at_hand() override;
  /// Whether anything was read: a page, or what a wheel says.
  [[nodiscard]] bool has_read() const {
    return !pages_.empty() || !direct_.empty() || !variants_.empty() || !metadata_.empty();
  }
  /// What `other` has read of wheels needs not be read again. Both have the same sources.
  void know_metadata_of(const IndexCandidates& other) {
    metadata_.insert(other.metadata_.begin(), other.metadata_.end());
  }

 private:
  /// "https://…, /folder"
  [[nodiscard]] std::string looked_in(std::string_view name);
  [[nodiscard]] std::string why_alone(std::string_view name);
  /// Where `name` comes from and nowhere else; nullptr: from any index.
  [[nodiscard]] const AssignedSource* assigned(std::string_view name) const;
  /// A release that is kept alive here.
  [[nodiscard]] Release* adopt(Release release);
  /// What one source has of one project.
  struct Page {
    std::vector<Release> releases;
    bool absent = false;  ///< it does not know the project at all
    /// Whose files the releases read; nullptr: they have them.
    std::unique_ptr<const index::ListedProject> listed = nullptr;
    std::string detail = {};  ///< what is told of it when somebody asks for it
  };
  using Pages = std::map<std::string, Page, std::less<>>;
  /// Releases among which the newest is the best.
  using Group = std::vector<Release*>;

  [[nodiscard]] Result<Page*> page(index::Source* source, std::string_view name);
  [[nodiscard]] Result<Page> read_page(index::Source& source, std::string_view name);
  /// Where what is withheld or labelled depends on each file.
  [[nodiscard]] Page read_whole(index::ProjectPage page, const index::Source& source,
                                std::string_view name, const index::Family* family);
  [[nodiscard]] static std::string describe(std::string_view name, std::size_t files,
                                            const Page& page, const index::Source& source);
  /// `source` as text, which lives as long as this.
  [[nodiscard]] std::string_view origin(std::string source);
  /// All releases of a project that the strategy lets count; an earlier group is tried to its end
  /// before a later one.
  [[nodiscard]] Result<std::vector<Group>> groups(std::string_view name);
  /// What `index` has; nullopt: it does not know the project. `last`: it is the last that is asked,
  /// to which a family's own index belongs.
  [[nodiscard]] Result<std::optional<Group>> group_of(index::Source* index, std::string_view name,
                                                      bool last);
  /// Merges the releases of one source into `releases`, newest first.
  [[nodiscard]] Result<void> append(std::vector<Release*>& releases, index::Source* source,
                                    std::string_view name);
  [[nodiscard]] bool is_at_hand(std::string_view name);
  /// Sends for what `group_of` reads.
  void expect_group(index::Source* index, const std::string& name, bool last);
  /// Of what belongs to one release: what the cache lacks is no reason to end the search.
  [[nodiscard]] Error as_of_release(Error error) const;
  const Result<WheelMetadata>& keep_metadata(const index::PublishedFile& file,
                                             const Result<std::string>& text);
  void withhold(index::ProjectPage& page, const index::Source* source, std::string_view name);
  [[nodiscard]] Result<std::vector<Release*>> family_releases(const index::Family& family,
                                                              index::Source* index,
                                                              std::string_view name);
  /// Of a family whose pages list all releases, and what another index has of them.
  [[nodiscard]] Result<std::vector<Release>> joined_releases(const index::Family& family,
                                                             index::Source* index,
                                                             std::string_view name);
  /// Of a family in which each release has pages of its own, that are read with its files.
  [[nodiscard]] Result<std::vector<Release>> releases_with_pages(const index::Family& family,
                                                                 index::Source* index,
                                                                 std::string_view name);
  /// Of a family whose builds are for a release of torch.
  [[nodiscard]] Result<std::vector<Release>> built_for_releases(const index::Family& family,
                                                                index::Source* index,
                                                                std::string_view name);
  /// A place that the user names, or `index`, has wheels of `name`.
  [[nodiscard]] Result<bool> has_wheels(index::Source* index, std::string_view name);

  const Sources& sources_;
  const Options& options_;
  const Target& target_;
  Report& report_;
  std::map<const index::Source*, Pages> pages_;
  /// The index that decided about a project although others could have been asked.
  std::map<std::string, const index::Source*, std::less<>> decisive_;
  /// A family's index and the default index as one, by project.
  std::map<std::string, std::vector<Release*>, std::less<>> family_releases_;
  std::map<std::string, WithheldFiles, std::less<>> withheld_;
  std::deque<Release> adopted_;
  std::set<std::string, std::less<>> origins_;
  std::map<std::string, Release*, std::less<>> direct_;  ///< by joined URLs
  std::map<const Release*, ReleaseMetadata> variants_;
  std::map<std::string, Result<WheelMetadata>, std::less<>> metadata_;  ///< by URL
  std::set<std::string, std::less<>> expected_;  ///< names and URLs: each is sent for once
  /// Pages that somebody waits for, who may look at others meanwhile.
  std::set<std::pair<const index::Source*, std::string>> being_read_;
  bool unasked_ = false;  ///< what is read now, nobody has asked for
  /// Pages that could not be read before somebody asked for them.
  std::map<std::pair<const index::Source*, std::string>, Error> unread_;
};

}  // namespace axle::resolver
