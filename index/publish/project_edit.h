#pragma once
// A change of one project in an index that is changed in place: read from its page, not from its
// wheels, so that it costs what the page and the releases concerned cost.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/publish/index_pages.h"
#include "index/publish/index_place.h"
#include "index/publish/published_index.h"
#include "index/publish/static_index.h"
#include "index/publish/wheel_scan.h"
#include "wheel/version.h"
#include "wheel/wheel_name.h"

namespace axle::index {

class ProjectEdit {
 public:
  /// `place` must outlive it. Errors: those of IndexPlace::read_project.
  [[nodiscard]] static Result<ProjectEdit> open(const std::string& name, IndexPlace& place);

  /// `wheel` must outlive the edit; `uploaded`: microseconds since 1970. The same content under a
  /// published name is accepted. Error: mismatch for different content, also under another spelling
  /// of that name ("My-Pkg-1.0.0" is "my_pkg-1.0").
  [[nodiscard]] Result<void> add(const ScannedWheel& wheel, std::optional<std::int64_t> uploaded);
  /// A file of which only the record is known; what was said of the same file is replaced. Errors:
  /// those of check_record.
  [[nodiscard]] Result<void> add_record(ListedFile file);
  /// After the last record. Error: malformed (a variants file was recorded of a version that has no
  /// wheels).
  [[nodiscard]] Result<void> check_records() const;
  /// What is not there is ignored. Wheels alone: variants files follow from them.
  void remove(const std::string& filename);
  /// nullopt: not any more. Of a wheel that is there.
  void yank(const std::string& filename, const std::optional<std::string>& reason);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const PublishedProject& published() const { return published_; }
  [[nodiscard]] bool is_new() const { return is_new_; }
  [[nodiscard]] bool is_changed() const { return is_changed_; }
  [[nodiscard]] bool is_empty() const { return wheels_.empty(); }

  /// Writes pages and files, as far as they change. Errors: those of combine_variants,
  /// read_variants and `out`.
  [[nodiscard]] Result<void> write(IndexDraft& out, Report& report);
  /// The same as it is now, also without a change.
  [[nodiscard]] Result<void> write_pages(IndexDraft& out) const;
  /// After `write`: what the page lists now.
  [[nodiscard]] IndexedProject summary() const;
  /// After `write`: what it lists no more.
  [[nodiscard]] std::vector<std::string> gone() const;

 private:
  struct Wheel {
    ListedFile listed;
    wheel::WheelName name;
    bool is_published = false;
    const ScannedWheel* fresh = nullptr;  ///< to be copied
  };
  /// What the file name of a wheel of this project contains.
  using Meaning = std::tuple<wheel::Version, std::optional<wheel::BuildTag>,
                             std::vector<wheel::Tag>, std::string>;
  struct Release {
    std::vector<const Wheel*> wheels;
    std::string variants_file;  ///< its name, whether it is there or not
  };

  ProjectEdit(std::string name, IndexPlace& place) : name_(std::move(name)), place_(&place) {}
  [[nodiscard]] static Meaning meaning_of(const wheel::WheelName& name);
  void find_meanings();
  [[nodiscard]] Result<void> take(ListedFile file, bool is_published);
  [[nodiscard]] std::map<wheel::Version, Release> releases() const;
  [[nodiscard]] Result<void> combine(const Release& release, IndexDraft& out, Report& report);
  [[nodiscard]] Result<std::vector<ScannedWheel>> published_variants(const Release& release,
                                                                     Report& report);
  [[nodiscard]] Result<void> write_files(IndexDraft& out) const;
  /// For people, with the same files.
  [[nodiscard]] Result<void> write_project_page(const std::vector<ListedFile>& files,
                                                IndexDraft& out) const;
  void leave_out_files(IndexDraft& out) const;
  [[nodiscard]] std::string folder() const { return "simple/" + name_ + '/'; }

  std::string name_;
  IndexPlace* place_;
  PublishedProject published_;
  bool is_new_ = true;
  bool is_changed_ = false;
  std::map<std::string, Wheel> wheels_;                  ///< by file name
  std::map<std::string, ListedFile> variants_;           ///< the same
  std::set<std::string> recorded_;                       ///< variants files, by add_record
  std::map<Meaning, std::string> filenames_;             ///< filled by find_meanings
  std::set<wheel::Version> touched_;                     ///< releases whose wheels are others now
  std::map<std::string, std::string> written_variants_;  ///< variants files that are new
  std::set<std::pair<wheel::Version, std::string>> removed_labels_;  ///< of wheels that went
};

}  // namespace axle::index
