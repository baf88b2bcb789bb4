#pragma once
// Where a static index is kept: in a folder, or in a storage of S3's kind (index/storage). What is
// written there is the same.

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/publish/published_index.h"
#include "index/publish/wheel_scan.h"

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
  /// One of the published files of a folder, which do not change.
  [[nodiscard]] virtual Result<void> link(const std::string& file, std::string_view path) = 0;
  /// What was published and is not any more. In a folder it suffices not to write it.
  virtual void leave_out(std::string_view path) = 0;
  /// Published files are there already: they need not be linked.
  [[nodiscard]] virtual bool keeps_published() const = 0;
  /// Errors: io; of a storage what it refuses.
  [[nodiscard]] virtual Result<void> put_in_place(Report& report) = 0;
};

/// A file in a storage, as far as it is known without reading it.
struct StoredObject {
  std::string sha256;
  std::uint64_t size = 0;
};

class IndexPlace {
 public:
  virtual ~IndexPlace() = default;
  /// As `--out` names it: an absolute path, or "s3://…".
  [[nodiscard]] virtual const std::string& name() const = 0;
  /// The absolute path of its folder; empty: it is none of this machine's.
  [[nodiscard]] virtual std::string folder() const = 0;
  /// What is published. Of projects that are not among `projects` a storage says the name alone;
  /// nullptr: all. Errors: as read_published_index; of a storage what it refuses.
  [[nodiscard]] virtual Result<PublishedIndex> read(const std::set<std::string>* projects) = 0;
  /// A wheel that is published in `project`. Errors: as read_published_wheel.
  [[nodiscard]] virtual Result<ScannedWheel> read_wheel(const PublishedProject& project,
                                                        const PublishedWheel& wheel,
                                                        Report& report) = 0;
  /// Of a storage: a published file; nullopt: no page lists it, or it is not there. May be called
  /// by several threads at once, like `read_metadata`.
  [[nodiscard]] virtual Result<std::optional<StoredObject>> find(const std::string& project,
                                                                 const std::string& filename) = 0;
  /// Of a storage: the METADATA of a wheel that is there. Error: not_found.
  [[nodiscard]] virtual Result<std::string> read_metadata(const std::string& project,
                                                          const std::string& filename) = 0;
  /// Errors: io; another run writes to it.
  [[nodiscard]] virtual Result<std::unique_ptr<IndexDraft>> begin() = 0;
};

/// `folder`: absolute (find_static_index).
[[nodiscard]] std::unique_ptr<IndexPlace> make_folder_place(std::string folder);

}  // namespace axle::index
