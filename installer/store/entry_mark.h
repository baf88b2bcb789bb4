#pragma once
// Whether the files of a store's entry have reached the disk. <entry>/unflushed is a symbolic link
// to the id of the boot in which it was made: it appears together with the entry, and its text is
// written with its name.

#include <cstdint>
#include <set>
#include <string>

namespace axle::installer {

/// For an entry that is not visible yet. Best effort: without it, size and time must do.
void mark_unflushed_entry(const std::string& entry);

/// Whether the machine was started since the entry was made: its content must be compared before it
/// is used.
[[nodiscard]] bool may_be_damaged(const std::string& entry);

/// The content was compared after the machine was started: it is on the disk.
void forget_unflushed_entry(const std::string& entry);

/// What was made in this boot has had its time. Their file system is asked to write everything,
/// unless it is the one of `flushed`, for which that was done. Best effort.
void forget_unflushed_entries(const std::set<std::string>& entries, const std::string& flushed);

}  // namespace axle::installer
