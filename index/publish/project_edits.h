#pragma once
// Several projects of an index in one change.

#include <map>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/publish/index_place.h"
#include "index/publish/project_edit.h"

namespace axle::index {

class ProjectEdits {
 public:
  explicit ProjectEdits(IndexPlace& place) : place_(place) {}

  /// Each is opened once.
  [[nodiscard]] Result<ProjectEdit*> open(const std::string& name);
  [[nodiscard]] std::map<std::string, ProjectEdit>& all() { return edits_; }
  /// Writes all of them, and the pages of the index where it has other projects now.
  [[nodiscard]] Result<void> write(IndexDraft& out, Report& report);

 private:
  [[nodiscard]] Result<void> write_roots(IndexDraft& out);

  IndexPlace& place_;
  std::map<std::string, ProjectEdit> edits_;
};

}  // namespace axle::index
