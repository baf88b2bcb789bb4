#pragma once
// One project of an index: its page, its files, its releases.

#include <map>
#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "index/publish/index_place.h"
#include "resolver/lint/finding.h"
#include "resolver/lint/machine_corpus.h"
#include "resolver/lint/release_lint.h"

namespace axle::resolver {

/// The releases of a project that its page lists, oldest first; what is wrong with their files is
/// noted in `found`. The files of `project` must outlive them.
[[nodiscard]] std::vector<LintedRelease> read_releases(const std::string& name,
                                                       const index::PublishedProject& project,
                                                       index::IndexPlace& place, Report& report,
                                                       std::vector<LintFinding>& found);

/// Files that a page names and that are not there, or are not as it says.
void lint_files(const std::string& name, const index::PublishedProject& project,
                const std::string& folder, bool deep, Report& report,
                std::vector<LintFinding>& found);

/// The same of an index in a storage, which is asked for each file.
void lint_stored_files(const std::string& name, const index::PublishedProject& project,
                       index::IndexPlace& place, std::vector<LintFinding>& found);

/// Names and metadata that installers of today refuse.
void lint_for_peers(const std::string& name, const LintedRelease& release, index::IndexPlace& place,
                    std::vector<LintFinding>& found);

/// Projects by name, as far as they were asked for; nullptr: the index has none of that name.
class KnownProjects {
 public:
  explicit KnownProjects(index::IndexPlace& place) : place_(place) {}
  [[nodiscard]] const index::PublishedProject* find(const std::string& name);

 private:
  static constexpr std::size_t most = 64;
  index::IndexPlace& place_;
  std::map<std::string, std::optional<index::PublishedProject>> known_;
};

/// What the variants of a release require and this index has, but not for machines that take them.
void lint_dependencies(const std::string& name, const LintedRelease& release,
                       const Choices& choices, MachineCorpus& corpus, index::IndexPlace& place,
                       KnownProjects& known, std::vector<LintFinding>& found);

}  // namespace axle::resolver
