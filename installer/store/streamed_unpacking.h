#pragma once
// Unpacks a wheel while it is received: its directory is known already, by ranges.

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/system/parallel.h"
#include "installer/store/arriving_file.h"
#include "installer/store/manifest.h"
#include "installer/store/member_writer.h"
#include "installer/store/partial_wheel.h"
#include "installer/store/seen_parts.h"
#include "wheel/wheel_file.h"

namespace axle::installer {

/// The wheel's bytes are given in order, from its beginning or from where a partial wheel ends.
/// What is below the folder counts only when `finish` succeeds, and the caller has checked the hash
/// of all bytes. Then the archive was checked as by ZipReader::open: the end of the file, from
/// which the directory was read, is what was read, and each record before it agrees with the
/// directory.
class StreamedUnpacking {
 public:
  /// `wheel` was opened by its directory, from a source of which `seen` has all that was read.
  /// `folder` exists; it is empty, or the tree of `partial`, in which what is done is noted. All of
  /// them must outlive it. `processors` may work at once. Nullptr: the system gives no thread.
  /// Error: io.
  [[nodiscard]] static Result<std::unique_ptr<StreamedUnpacking>> begin(
      const wheel::WheelFile& wheel, const SeenParts& seen, const std::string& folder,
      Manifest& manifest, PartialWheel* partial = nullptr,
      unsigned processors = system::usable_processors());
  StreamedUnpacking(const StreamedUnpacking&) = delete;
  StreamedUnpacking& operator=(const StreamedUnpacking&) = delete;
  /// Ends the work, if it was not finished.
  ~StreamedUnpacking();

  /// What the hash of the file is where the first byte is wanted: that of none at its beginning.
  [[nodiscard]] const wheel::Sha256Midpoint& from() const { return from_; }
  /// The rest does not come: unpacks what has come, for whoever goes on later. False: a file could
  /// not be written, or the wheel is wrong.
  [[nodiscard]] bool give_up();

  /// The next bytes of the file. Waits while too many are not unpacked yet. What is wrong with the
  /// wheel is told by `finish`, after the hash of the file: that may be wrong, too. Errors: io (a
  /// file cannot be written).
  [[nodiscard]] Result<void> put(std::span<const std::byte> bytes);
  /// The whole file was given; waits until it is unpacked, and fills in the manifest. Errors: those
  /// of unpack_wheel; mismatch (it is not the file that was listed).
  [[nodiscard]] Result<void> finish();

 private:
  /// A member that is not finished yet.
  struct Part {
    std::size_t member;  ///< its place in the order of the file
    const wheel::ZipEntry* entry;
    StoredFile* file;  ///< a folder has none
    std::optional<BegunFile> begun = std::nullopt;
    /// Where its record is read from.
    [[nodiscard]] std::uint64_t begin() const;
  };
  StreamedUnpacking(const wheel::WheelFile& wheel, const SeenParts& seen, const std::string& folder,
                    Manifest& manifest, PartialWheel* partial, unsigned processors);
  /// Leaves out of the parts what the partial wheel has, and begins others in the middle.
  [[nodiscard]] Result<void> take_over(const PartialLog& log);
  [[nodiscard]] bool start();
  void unpack_all();
  void unpack(std::size_t part);
  [[nodiscard]] Result<void> unpack_part(std::size_t part);
  [[nodiscard]] Result<void> write_part(Part& part, ArrivingFile::Part& record);
  /// The first of them counts.
  void end_with(std::optional<Error> error, std::exception_ptr thrown);

  const wheel::WheelFile& wheel_;
  const SeenParts& seen_;
  const std::string& folder_;
  PartialWheel* partial_;
  unsigned processors_;
  std::uint64_t parts_end_ = 0;
  std::vector<Part> parts_;  ///< in the order of the file
  MemberWriter writer_;
  wheel::Sha256Midpoint from_;
  std::optional<ArrivingFile> file_;  ///< from `start` on
  std::uint64_t received_ = 0;
  bool agrees_ = true;  ///< with what was seen
  std::mutex mutex_;    ///< protects what follows
  std::optional<Error> error_;
  std::exception_ptr thrown_;
  bool gives_up_ = false;
  std::thread thread_;  ///< uses the others
};

}  // namespace axle::installer
