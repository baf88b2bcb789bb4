#pragma once
// Which changes of an environment may not have reached the disk, and in which run of the kernel
// they were made.
//
// <base>/.axle/unflushed/
//   <number>.<boot>.<seconds>.<inode>
//                             an UnflushedChange, on the disk before anything of the change was
//                             visible; the numbers ascend, the seconds are since that start
//   <number>.made             the change was made, completely. Never flushed itself, so that a file
//                             system that keeps the order of names has this one last
//
// A mark of another boot means that the machine was started since: power_loss.h verifies what it
// promises. A mark whose inode is another one is a copy, of an environment that was read through
// the kernel's memory: it says nothing.

#include <cstdint>
#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "installer/durability/unflushed_change.h"

namespace axle::installer {

struct UnflushedMark {
  std::uint64_t number = 0;
  std::int64_t seconds = 0;  ///< when the change was made, since the start of its boot
  std::string path;          ///< absolute
  bool made = false;
};

/// By number. Where the system has no boot id, every mark is of another boot.
struct UnflushedMarks {
  std::vector<UnflushedMark> own;      ///< of this boot
  std::vector<UnflushedMark> foreign;  ///< of earlier ones
};

enum class Copies : std::uint8_t { leave, remove };
/// Without the marks that are copies. Error: io.
[[nodiscard]] Result<UnflushedMarks> find_unflushed(const std::string& base, Copies copies);

/// Makes the promise of a change (`rendered`: by render_unflushed) durable; to be called before its
/// first visible effect. Waits for this record and the names above it, not for files that were
/// staged. Where the system has no boot id, it waits for everything instead and leaves no mark.
/// Error: io; there is no mark then.
[[nodiscard]] Result<void> promise_change(const std::string& base, const std::string& rendered);

/// The changes that are promised in this boot are complete. Error: io.
[[nodiscard]] Result<void> fulfil_promises(const std::string& base);

enum class Withdrawn : std::uint8_t { never_visible, undone };
/// The changes that are promised and not made will not be: nothing of them was visible, or
/// (`undone`) is any more, which is written to disk first. Error: io.
[[nodiscard]] Result<void> withdraw_promises(const std::string& base, Withdrawn how);

/// Removes the marks of this boot if the kernel has had enough time to write everything since the
/// last of them was made, which is asked for; those of the store's entries too. Error: io.
[[nodiscard]] Result<void> forget_flushed(const std::string& base);

/// Removes marks; they may come back after a power failure.
[[nodiscard]] Result<void> remove_marks(const std::string& base,
                                        const std::vector<UnflushedMark>& marks);

/// Records that the change of one mark was made. Error: io.
[[nodiscard]] Result<void> say_made(const std::string& base, const UnflushedMark& mark);

/// Waits until everything on the file system of `folder` is on the disk. Error: io.
[[nodiscard]] Result<void> flush_file_system(const std::string& folder);

/// The record of a mark. Errors: as of parse_unflushed; io.
[[nodiscard]] Result<UnflushedChange> read_mark(const UnflushedMark& mark);

}  // namespace axle::installer
