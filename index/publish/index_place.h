#pragma once
// Where a static index is kept: in a folder, or in a storage of S3's kind (index/storage). What is
// written there is the same.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/browse/page_machines.h"
#include "index/publish/published_index.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::index {

/// The next state of an index. What it is told counts with `put_in_place`; without, nothing has
/// changed for a reader. Paths are relative to the index: "simple/demo/index.json".
class IndexDraft {
 public:
  virtual ~IndexDraft() = default;
  [[nodiscard]] virtual Result<void> write(std::string_view path, std::string_view content) = 0;
  /// A file of this machine, whose bytes have this hash.
  [[nodiscard]] virtual Result<void> copy(const std::string& file, std::string_view path,
                                          std::string_view sha256) = 0;
  /// What was published and is not any more.
  virtual void leave_out(std::string_view path) = 0;
  /// Errors: io; of a storage what it refuses; conflict: another publisher was faster, and what was
  /// read is not true any more.
  [[nodiscard]] virtual Result<void> put_in_place(Report& report) = 0;
};

/// A file of an index.
struct StoredObject {
  std::string sha256;  ///< empty: a storage does not know it
  std::uint64_t size = 0;
  std::string etag = {};
};

class IndexPlace {
 public:
  virtual ~IndexPlace() = default;
  /// As `--out` names it: an absolute path, or "s3://…".
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// The absolute path of its folder; empty: it is none of this machine's.
  [[nodiscard]] virtual std::string folder() const = 0;
  /// A command that was killed may have written the JSON of a page and not its HTML, and nothing
  /// says so: both are written again with each change.
  [[nodiscard]] virtual bool may_lack_html() const { return false; }
  /// The names of its projects, sorted; nullopt: there is no index. Errors: io, if what is there
  /// was not made by an index build; of a storage what it refuses.
  [[nodiscard]] virtual Result<std::optional<std::vector<std::string>>> read_names() = 0;
  /// What is published of a project; nullopt: nothing. Errors: the same.
  [[nodiscard]] virtual Result<std::optional<PublishedProject>> read_project(
      const std::string& name) = 0;
  /// Somebody laid these files beside the page of `project`, which is read next: it need not list
  /// them yet.
  virtual void expect_laid(const std::string& /*project*/,
                           const std::set<std::string>& /*filenames*/) {}
  /// A file beside the page of `project`, listed or not; nullopt: it is not there.
  [[nodiscard]] virtual Result<std::optional<StoredObject>> look_at(
      const std::string& project, const std::string& filename) = 0;
  /// A variants file that the page of `project` lists. May be called by several threads at once.
  /// Errors: not_found, malformed, unsupported.
  [[nodiscard]] virtual Result<wheel::VariantMetadata> read_variants(
      const PublishedProject& project, const std::string& filename, Report& report) = 0;
  /// Of a storage: a published file; nullopt: no page lists it, or it is not there. May be called
  /// by several threads at once, like `read_metadata`.
  [[nodiscard]] virtual Result<std::optional<StoredObject>> find(const std::string& project,
                                                                 const std::string& filename) = 0;
  /// The METADATA of a wheel that is there. Error: not_found.
  [[nodiscard]] virtual Result<std::string> read_metadata(const std::string& project,
                                                          const std::string& filename) = 0;
  /// A change of what is there; `read_…` are to be called after it. Errors: io; another run writes
  /// to it.
  [[nodiscard]] virtual Result<std::unique_ptr<IndexDraft>> begin() = 0;
  /// A page for people, or what such pages share, by its path; nullopt: it is not there.
  [[nodiscard]] virtual Result<std::optional<std::string>> read_shown(std::string_view path) = 0;

  /// What pages for people say of machines; nullptr: no such pages are written.
  [[nodiscard]] const PageMachines* machines() const { return machines_.get(); }
  void show_machines(std::shared_ptr<const PageMachines> machines) {
    machines_ = std::move(machines);
  }

 private:
  std::shared_ptr<const PageMachines> machines_;
};

/// `folder`: absolute (find_static_index).
[[nodiscard]] std::unique_ptr<IndexPlace> make_folder_place(std::string folder);

}  // namespace axle::index
