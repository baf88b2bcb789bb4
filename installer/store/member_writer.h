#pragma once
// Writes the files of a wheel below one folder, and checks them against RECORD.

#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "foundation/report/error.h"
#include "foundation/system/parallel.h"
#include "installer/file_access.h"
#include "installer/store/manifest.h"
#include "wheel/hash/sha256.h"
#include "wheel/zip/zip_reader.h"

namespace axle::installer {

/// A file that was written up to a place of its member.
struct BegunFile {
  wheel::ContentPlace place;
  Descriptor file;     ///< positioned at its end
  wheel::Sha256 hash;  ///< of what is in it
  std::string window;  ///< the last bytes in it, ContentPlace::window or all
};

/// Places of one member, which are kept once what is before them is in the file: content is made by
/// one thread, and may be written by another.
class WrittenPlaces {
 public:
  using Keep = std::function<void(const wheel::ContentPlace&)>;
  explicit WrittenPlaces(Keep keep) : keep_(std::move(keep)) {}
  void add(const wheel::ContentPlace& place);
  /// The file has that many bytes.
  void reach(std::uint64_t size);

 private:
  Keep keep_;
  std::mutex mutex_;
  std::deque<wheel::ContentPlace> waiting_;
};

class MemberWriter {
 public:
  /// `folder` exists; `where` names the wheel in errors. Both must outlive it. `processors` may
  /// work at once.
  MemberWriter(const std::string& folder, const std::string& where,
               unsigned processors = system::usable_processors())
      : folder_(folder), where_(where), processors_(processors) {}

  [[nodiscard]] Result<void> open();
  /// The folders above a file; they may be there. Not by several threads at once.
  [[nodiscard]] Result<void> make_folders(std::string_view path);

  /// Gives the content of one file to a sink.
  using Content = std::function<Result<void>(const wheel::ZipReader::Sink&)>;
  /// Several threads may write different files. A large one takes two threads: hash and write go on
  /// behind its content. Fills in what `stored` says of the file on disk. `begun`: `content` is the
  /// rest of the file; otherwise there is none yet.
  [[nodiscard]] Result<void> write(StoredFile& stored, const Content& content,
                                   BegunFile* begun = nullptr,
                                   WrittenPlaces* places = nullptr) const;

  /// Whether the complete file is there, with the hash that RECORD gives. If so, fills in `stored`.
  [[nodiscard]] bool has(StoredFile& stored) const;
  /// The file as it was at `place`, if it is there and what is before that is undamaged.
  [[nodiscard]] std::optional<BegunFile> reopen(const StoredFile& stored,
                                                const wheel::ContentPlace& place) const;
  /// Errors: io (it is there and cannot be removed).
  [[nodiscard]] Result<void> remove(const StoredFile& stored) const;

 private:
  const std::string& folder_;
  const std::string& where_;
  unsigned processors_;
  Descriptor root_;
  std::unordered_set<std::string> folders_;
};

}  // namespace axle::installer
