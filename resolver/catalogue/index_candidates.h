#pragma once
// What indexes, find-links places and URLs have: pages are read when they are asked for, and once.

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
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
  [[nodiscard]] Result<Release*> direct(std::string_view name,
                                        const std::vector<std::string>& urls) override;
  [[nodiscard]] Result<std::vector<KnownVersion>> versions(std::string_view name) override;
  [[nodiscard]] Result<const ReleaseMetadata*> variants(
      std::string_view name, const Release& release,
      const std::vector<const CandidateWheel*>& wheels) override;
  [[nodiscard]] Result<const wheel::CoreMetadata*> metadata(std::string_view name,
                                                            const Release& release,
                                                            const CandidateWheel& wheel) override;
  [[nodiscard]] std::optional<std::string> first_sha256(const CandidateWheel& wheel) override;
  [[nodiscard]] Result<const index::Family*> family_of(std::string_view name) override;
  [[nodiscard]] std::string assigned_url(std::string_view name) const override;
  [[nodiscard]] Whereabouts whereabouts(std::string_view name) override;

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
  };
  using Pages = std::map<std::string, Page, std::less<>>;
  /// Releases among which the newest is the best.
  using Group = std::vector<Release*>;

  [[nodiscard]] Result<Page*> page(index::Source* source, std::string_view name);
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
  void withhold(index::ProjectPage& page, const index::Source* source, std::string_view name);
  [[nodiscard]] Result<std::vector<Release*>> family_releases(const index::Family& family,
                                                              index::Source* index,
                                                              std::string_view name);

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
  std::map<std::string, Release*, std::less<>> direct_;  ///< by joined URLs
  std::map<const Release*, ReleaseMetadata> variants_;
  std::map<std::string, Result<wheel::CoreMetadata>, std::less<>> metadata_;  ///< by URL
};

}  // namespace axle::resolver
