#pragma once
// From project pages to releases: which versions of a package exist where, newest first. File names
// are only split here; a wheel name is parsed in full when its release is looked at, and then once.

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/family/family_book.h"
#include "index/pages/page.h"
#include "plan/decision.h"
#include "resolver/catalogue/withheld_files.h"
#include "resolver/request/options.h"
#include "resolver/request/sources.h"
#include "wheel/hash/listed_hash.h"
#include "wheel/specifier.h"
#include "wheel/tag.h"
#include "wheel/version.h"
#include "wheel/wheel_name.h"

namespace axle::resolver {

/// A wheel whose name was parsed.
struct CandidateWheel {
  const index::PublishedFile* file = nullptr;  ///< in its release
  wheel::WheelName name;
  std::size_t tag_index = wheel::SupportedTags::npos;  ///< npos: no tag fits
};

/// One version of one package as one source publishes it: never merged across sources, but that a
/// family's index and the plain wheels of the default index count as one.
struct Release {
  wheel::Version version;  ///< without the local version where that is a family's label
  std::string source;      ///< index or folder, for messages
  std::vector<index::PublishedFile> wheels;
  std::vector<index::PublishedFile> sdists;
  std::optional<index::PublishedFile> variants_file;
  bool direct = false;  ///< named by path or URL: yanked and pre-release rules do not apply
  /// Its labelled files are builds of this family; nullptr: the release has no labelled files.
  const index::Family* family = nullptr;
  std::vector<wheel::Version> local_versions;  ///< of the labelled files, each once

  /// Filled by parse_wheels; `unreadable` names the files that are no wheels for this release.
  bool parsed = false;
  std::vector<CandidateWheel> candidates;
  std::vector<plan::SkippedFile> unreadable;
};

/// Parses the wheel names of `release`, once.
void parse_wheels(Release& release, const wheel::SupportedTags& tags);

/// The releases on one page, newest first. `name` is normalised. Files that belong to no release
/// are left out; those with a label (PublishedFile::label) are builds of `family`.
[[nodiscard]] std::vector<Release> group_releases(index::ProjectPage page, std::string_view name,
                                                  std::string_view source,
                                                  const index::Family* family = nullptr);

/// For messages.
struct KnownVersion {
  wheel::Version version;
  bool yanked = false;
};

/// What a package must satisfy, from everybody who wants it.
struct VersionFilter {
  std::vector<const wheel::SpecifierSet*> specifiers;
  bool prereleases = false;                    ///< asked for, by option
  std::vector<wheel::ListedHash> listed = {};  ///< hashes of which a file must have one; empty: any

  [[nodiscard]] bool contains(const wheel::Version& version) const;
  [[nodiscard]] bool admits_prereleases() const;
  /// The release, or one of the local versions that it consists of.
  [[nodiscard]] bool contains(const Release& release) const;
  /// Some clause is `== version` or `=== version`: what PEP 592 asks for before a yanked file is
  /// used.
  [[nodiscard]] bool pins(const wheel::Version& version) const;
  /// The local version of a clause `== 2.8.0+cu128`, normalised; empty when there is none.
  [[nodiscard]] std::string pinned_local() const;
};

/// The pages of all packages that a resolution asks for, each read once.
class Catalogue {
 public:
  /// Families are silent for packages of which `options` want plain wheels; `markers` are the
  /// target's.
  Catalogue(const Sources& sources, const Options& options, const wheel::MarkerEnvironment& markers,
            Report& report)
      : sources_(sources), options_(options), markers_(markers), report_(report) {}

  /// The releases that `filter` allows, in the order in which they are tried: newest first among
  /// those of one index (with unsafe-best-match: of all), those of find-links among them.
  /// Pre-releases only when asked for or when their index has nothing else; yanked releases only
  /// when pinned. Empty when nothing matches.
  [[nodiscard]] Result<std::vector<Release*>> matching(std::string_view name,
                                                       const VersionFilter& filter);

  /// The family that a project belongs to; nullptr: none, or plain wheels are wanted.
  [[nodiscard]] Result<const index::Family*> family_of(std::string_view name);

  /// Every version known in any source, newest first, each once.
  [[nodiscard]] Result<std::vector<KnownVersion>> versions(std::string_view name);

  /// "https://…, /folder": where a package was looked for.
  [[nodiscard]] std::string looked_in(std::string_view name);

  /// Where `name` comes from and nowhere else; nullptr: from any index.
  [[nodiscard]] const AssignedSource* assigned(std::string_view name) const;

  /// Why versions of other indexes did not count, and how to make them count; empty when there are
  /// none. For the hint of an error about `name`.
  [[nodiscard]] std::string why_alone(std::string_view name);

  /// What was withheld of `name` so far.
  [[nodiscard]] std::string explain_withheld(std::string_view name) const;

  /// A release made of named files, kept alive here.
  [[nodiscard]] Release* adopt(Release release);

 private:
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
  const wheel::MarkerEnvironment& markers_;
  Report& report_;
  std::map<const index::Source*, Pages> pages_;
  /// The index that decided about a project although others could have been asked.
  std::map<std::string, const index::Source*, std::less<>> decisive_;
  /// A family's index and the default index as one, by project.
  std::map<std::string, std::vector<Release*>, std::less<>> family_releases_;
  std::map<std::string, WithheldFiles, std::less<>> withheld_;
  std::deque<Release> adopted_;
};

}  // namespace axle::resolver
