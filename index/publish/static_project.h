#pragma once
// One project of a static index: what its pages list, and its folder.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/browse/page_machines.h"
#include "index/publish/index_pages.h"
#include "index/publish/index_place.h"
#include "index/publish/published_index.h"
#include "index/publish/release_variants.h"
#include "index/publish/staged_folder.h"
#include "index/publish/static_index.h"
#include "index/publish/wheel_scan.h"

namespace axle::index {

/// The wheels of a project, published and new. Each file name occurs once, in any spelling.
class ProjectWheels {
 public:
  /// The wheels that `published` lists. Errors: the name of one that is damaged or not as listed.
  [[nodiscard]] static Result<ProjectWheels> read(const PublishedProject& published,
                                                  Report& report);

  /// The same content under a published name is accepted. Error: mismatch for different content,
  /// also under another spelling of that name ("My-Pkg-1.0.0" is "my_pkg-1.0").
  [[nodiscard]] Result<void> add(const ScannedWheel& wheel);
  [[nodiscard]] bool empty() const { return wheels_.empty(); }
  [[nodiscard]] const auto& all() const { return wheels_; }

 private:
  struct ListedWheel {
    ScannedWheel wheel;
    bool published;
    std::optional<std::int64_t> uploaded;  ///< as its page says, like what follows
    std::optional<std::string> yanked;
  };
  /// What the file name of a wheel of this project contains.
  using Meaning = std::tuple<wheel::Version, std::optional<wheel::BuildTag>,
                             std::vector<wheel::Tag>, std::string>;
  [[nodiscard]] static Meaning meaning_of(const ScannedWheel& wheel);

  std::map<std::string, ListedWheel> wheels_;  ///< by file name
  std::map<Meaning, std::string> filenames_;   ///< of one wheel each

  friend class StaticProject;
};

/// Everything that is written for one project. The wheels must outlive it.
class StaticProject {
 public:
  /// Errors: those of combine_variants.
  [[nodiscard]] static Result<StaticProject> describe(const std::string& name,
                                                      const ProjectWheels& wheels);

  /// Pages and files, under simple/<name>/; with `machines` also the page for people.
  [[nodiscard]] Result<void> write(const PageMachines* machines, StagedFolder& out) const;
  [[nodiscard]] const IndexedProject& summary() const { return summary_; }

 private:
  IndexedProject summary_;
  std::vector<std::string> versions_;
  std::vector<ListedFile> files_;
  std::vector<VariantsFile> variants_;
  std::vector<const ProjectWheels::ListedWheel*> wheels_;
};

/// An unchanged project, as its page lists it.
[[nodiscard]] IndexedProject summary_of(const std::string& name, const PublishedProject& project);
/// Its folder, unchanged; a page for people that is missing is made.
[[nodiscard]] Result<void> carry_over(const std::string& name, const PublishedProject& project,
                                      IndexPlace& place, StagedFolder& out);

}  // namespace axle::index
