#pragma once
// A folder of files as an index publishes them, to install from later.

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "index/publish/index_place.h"
#include "installer/work_folder.h"
#include "plan/resolution.h"

namespace axle::installer {

/// What became of one file.
struct SavedFile {
  bool was_there = false;  ///< complete, and nothing was downloaded
  std::string sha256;      ///< of its bytes
  std::uint64_t size = 0;
  /// Of a wheel whose own METADATA is not what it was chosen by: the text.
  std::optional<std::string> other_metadata = {};
};

class FileFolder {
 public:
  /// Creates `path` if it is missing, and locks it for other downloads. Errors: io; conflict
  /// (another command downloads into it).
  [[nodiscard]] static Result<FileFolder> open(std::string path);
  /// Out of sight, for files that go elsewhere in the end: `hidden`, which must be nobody else's,
  /// is created if it is missing, locked, and removed with everything in it if all is well in the
  /// end. Errors: as of open.
  [[nodiscard]] static Result<FileFolder> open_hidden(const std::string& hidden);
  /// What is not complete stays for the next command, in a hidden folder.
  ~FileFolder();
  FileFolder(FileFolder&&) = default;
  FileFolder& operator=(FileFolder&&) = delete;
  FileFolder(const FileFolder&) = delete;
  FileFolder& operator=(const FileFolder&) = delete;

  /// Brings the file of `file` here under its own name, checked as for an installation, whole or
  /// not at all. One that is there, or in the index `published` unless that is nullptr, with
  /// the hash that it must have is not downloaded, a download that was interrupted goes on, and a
  /// file of that name with another content is replaced, with a note. May be called by several
  /// threads at once, for different names. Errors: as of download; malformed (not a wheel, or no
  /// name for a file), conflict (something else is in its place), io.
  [[nodiscard]] Result<SavedFile> bring(const plan::ResolvedPackage& file,
                                        index::IndexPlace* published, index::Transport& transport,
                                        Report& report, const std::stop_token& stop = {});

  /// The attestations of a wheel that was brought, beside it, if its index has any. What an index
  /// names and does not have is a warning. Errors: io.
  [[nodiscard]] Result<void> bring_provenance(const plan::ResolvedPackage& file,
                                              index::Transport& transport, Report& report) const;

  /// Where files are that were brought.
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Everything was brought: what earlier commands left unfinished is of no use any more.
  void close() { complete_ = true; }

 private:
  FileFolder(std::string path, WorkFolder work) : path_(std::move(path)), work_(std::move(work)) {}

  std::string path_;
  WorkFolder work_;
  bool complete_ = false;
};

/// The file of that name in `folder` if it is complete: if it has every hash and the size that
/// `file` states, and one of them is a hash. Nullopt: there is none, or it must be downloaded.
/// Errors: malformed (no name for a file), conflict (something else is there), io.
[[nodiscard]] Result<std::optional<SavedFile>> find_complete(const std::string& folder,
                                                             const plan::ResolvedPackage& file,
                                                             Report& report);

/// The same in an index, whose files never change. In a storage one counts that it has the sha256
/// of, and `file` too. Errors: as above; mismatch, if the one that is there is another file.
[[nodiscard]] Result<std::optional<SavedFile>> find_published(index::IndexPlace& index,
                                                              const plan::ResolvedPackage& file);

}  // namespace axle::installer
