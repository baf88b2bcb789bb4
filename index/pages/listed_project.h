#pragma once
// What a source lists of one project, by release. A page has thousands of files, of which a solve
// looks at those of a few releases: the others stay bytes.
//
// The bytes of a page are kept beside its cached copy, so that it is parsed once, however often it
// is used, and read in parts. Every part has a checksum over it and over the identity of the cached
// copy; what does not fit is parsed again.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/http/transport.h"
#include "index/pages/kept_files.h"
#include "index/pages/page.h"
#include "index/pages/release_groups.h"

namespace axle::index {

/// What is known of a release without its files.
struct ReleaseSummary {
  std::string_view version;  ///< as its first file has it
  std::uint32_t wheels = 0;
  std::uint32_t sdists = 0;
  /// Wheels that may have a label: of an index family, or six parts in their name.
  std::uint32_t maybe_labelled = 0;
  bool yanked_wheels = false;  ///< some wheel is yanked
  bool all_yanked = true;      ///< every wheel and sdist is

  void add(FileKind kind, const PublishedFile& file);
};

[[nodiscard]] ReleaseSummary summarize(const ReleaseFiles& files);

class ListedProject {
 public:
  /// `name` is normalised. `copy`: the cached copy of the page, if there is one.
  ListedProject(const ProjectPage& page, std::string_view name, const FormPlace& copy = {});
  /// What was kept; nullopt: it is damaged, or nothing that `bytes` gave.
  [[nodiscard]] static std::optional<ListedProject> open(const KeptForm& form);

  [[nodiscard]] const std::string& url() const { return url_; }  ///< ProjectPage::url
  [[nodiscard]] bool absent() const { return absent_; }
  [[nodiscard]] std::size_t file_count() const;
  /// Some file is PublishedFile::exposed.
  [[nodiscard]] bool any_exposed() const;

  [[nodiscard]] std::size_t release_count() const;  ///< the newest is first
  [[nodiscard]] ReleaseSummary summary(std::size_t release) const;
  /// `wanted`: as in read_kept_files.
  [[nodiscard]] ReleaseFiles files(std::size_t release, const WantedWheels& wanted = {}) const;
  /// The page as it was parsed.
  [[nodiscard]] ProjectPage page(std::string_view name) const;

  /// What `open` reads.
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  /// They were kept beside `copy`: all but the summaries are read from there from now on.
  void leave_files_at(const FormPlace& copy);
  /// How the page is parsed again if a part of what was kept turns out to be damaged; nullptr: it
  /// is not, and its files are missing.
  void set_parse_again(std::function<std::shared_ptr<const ListedProject>()> parse_again);

 private:
  struct Row;
  ListedProject() = default;
  [[nodiscard]] bool is_sound(const KeptForm& form) const;
  [[nodiscard]] Row append(const std::vector<GroupedFile>& files,
                           const std::vector<PublishedFile>& all, std::size_t version_at,
                           std::string_view version);
  [[nodiscard]] Row row(std::size_t at) const;
  [[nodiscard]] std::optional<std::vector<KeptFile>> files_of(const Row& row,
                                                              const WantedWheels& wanted) const;
  [[nodiscard]] const ListedProject* parsed_again() const;

  std::string url_;
  bool absent_ = false;
  std::string bytes_;         ///< all, or up to the files
  std::string newest_;        ///< files that were read with the rest: from the end of `bytes_` on
  std::string path_;          ///< where the files are; empty: behind the rest
  std::uint64_t offset_ = 0;  ///< of the whole in that file
  std::uint64_t seed_ = 0;    ///< of the files' checksums
  mutable std::function<std::shared_ptr<const ListedProject>()> parse_again_;  ///< tried once
  mutable std::shared_ptr<const ListedProject> again_;
};

}  // namespace axle::index
