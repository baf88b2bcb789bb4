#pragma once
// A file of consecutive parts that one thread receives while others read the parts: of what has
// come, only a window is kept in memory.

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "foundation/report/error.h"
#include "installer/file_access.h"
#include "wheel/zip/zip_reader.h"

namespace axle::installer {

class ArrivingFile {
 public:
  /// `part_begins`: offsets, ascending; a part ends before the next one begins, the last one at
  /// `parts_end`; between two there may be bytes that nobody reads. The parts are begun in this
  /// order. `window` is in bytes, at least twice what is read at once. The first byte that is put
  /// is that at `first`, where no part has begun. `aside`: an empty file to be read and written,
  /// which takes all that comes once the window is full.
  ArrivingFile(std::vector<std::uint64_t> part_begins, std::uint64_t parts_end, std::size_t window,
               std::uint64_t first = 0, Descriptor aside = {});

  /// The next bytes. Waits while they do not fit into the window, and there is no file for them.
  /// Error: io (that file cannot be written).
  [[nodiscard]] Result<void> put(std::span<const std::byte> bytes);
  /// No more bytes come: who waits for some gets an error. After the last `put`.
  void end();

  /// No more bytes are wanted: those of `put` are dropped. Who waits for some gets an error.
  void drop_rest();
  /// The part will not be read any more. All parts finished: as drop_rest.
  void finish(std::size_t part);

  /// Reads one part, as ZipReader::read_in_order does: no byte before the beginning of the last
  /// read. It waits for what has not come. For one thread.
  class Part final : public wheel::ByteSource {
   public:
    Part(ArrivingFile& file, std::size_t number) : file_(file), number_(number) {}
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part() override { file_.finish(number_); }

    [[nodiscard]] std::uint64_t size() const override { return file_.parts_end_; }
    /// Errors: io (it does not come any more).
    [[nodiscard]] Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
      return file_.read(number_, offset, out);
    }

   private:
    ArrivingFile& file_;
    std::size_t number_;
  };

 private:
  [[nodiscard]] Result<void> read(std::size_t part, std::uint64_t offset, std::span<std::byte> out);
  /// Where the window begins: everything before it may be overwritten.
  [[nodiscard]] std::uint64_t begin() const;
  [[nodiscard]] std::uint64_t room() const { return begin() + window_ - received_; }
  /// What was written may be read.
  void publish();
  /// Waits for room. False: nothing more is read.
  [[nodiscard]] bool extend();
  /// Wakes the receiver, if it can go on.
  void tell_of_room();
  [[nodiscard]] Result<void> copy_in(std::uint64_t offset, std::span<const std::byte> bytes);
  /// `aside`: where the bytes begin that are in the file.
  [[nodiscard]] Result<void> copy_out(std::uint64_t offset, std::span<std::byte> out,
                                      std::uint64_t aside) const;

  const std::uint64_t parts_end_;
  const std::size_t window_;
  /// A ring. Bytes from `begin()` to `received_` are not written, the others not read: no lock is
  /// held while bytes are copied.
  const std::unique_ptr<std::byte[]> bytes_;

  const Descriptor aside_;

  // The receiver's, who gets bytes in small pieces and takes the lock for many of them.
  std::uint64_t written_;
  std::uint64_t limit_;  ///< so far it may write
  bool done_ = false;    ///< what comes is dropped
  bool full_ = false;    ///< what comes goes into the file

  std::mutex mutex_;  ///< protects what follows
  std::condition_variable room_;
  std::condition_variable arrival_;
  std::uint64_t received_;                ///< published of what was written
  std::uint64_t aside_begin_;             ///< of the bytes in the file; the parts' end: none are
  std::uint64_t wanted_room_ = 0;         ///< 0: the receiver does not wait
  std::uint64_t awaited_;                 ///< the nearest end of bytes that somebody waits for
  std::vector<std::uint64_t> positions_;  ///< of each part: where the last read began
  std::vector<bool> finished_;
  std::size_t lowest_ = 0;  ///< the first part that is not finished
  bool ended_ = false;
  bool dropping_ = false;
};

}  // namespace axle::installer
