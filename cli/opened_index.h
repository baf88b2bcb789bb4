#pragma once
// The index that a command changes, and what the commands that publish say of it.

#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "foundation/report/report.h"
#include "index/publish/index_place.h"
#include "index/publish/static_index.h"
#include "session/command_failure.h"
#include "session/session.h"

namespace axle::cli {

struct OpenedIndex {
  std::unique_ptr<index::IndexPlace> place;
  std::string url;  ///< for --index-url
};

/// `out`: a folder, a file URL, "s3://…" or "https://…". Errors: usage, io, and those of
/// open_storage.
[[nodiscard]] session::Outcome<OpenedIndex> open_index(const session::Session& session,
                                                       const std::string& out);

/// Shows messages and keeps the warnings for the answer.
class Problems final : public Report {
 public:
  explicit Problems(Report& shown) : shown_(shown) {}
  void add(Remark remark) override;
  void progress(const Work& work) override;

  std::vector<std::string> messages;

 private:
  Report& shown_;
};

/// "1 file", "2 files"
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view what);
/// A line.
[[nodiscard]] std::string render_project(const index::IndexedProject& project);
[[nodiscard]] nlohmann::ordered_json projects_json(
    const std::vector<index::IndexedProject>& projects);

}  // namespace axle::cli
