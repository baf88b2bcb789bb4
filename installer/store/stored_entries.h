#pragma once
// The store as whoever looks after the cache sees it: which wheels and which byte code it has, and
// whether they are as they were unpacked and compiled.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "installer/store/manifest.h"

namespace axle::installer {

enum class EntryState : std::uint8_t {
  complete,  ///< has a manifest that can be read
  newer,     ///< of a later version of Axle
  unusable,  ///< nothing is ever taken from it
};

struct StoredEntry {
  std::string sha256;  ///< of the wheel: what the name of the folder begins with
  std::string folder;
  EntryState state = EntryState::unusable;
  Manifest manifest = {};  ///< of a complete one
};

/// Whether a wheel's folder may be called that: 64 hexadecimal digits.
[[nodiscard]] bool is_wheel_name(std::string_view name);

/// Unpacked wheels, and byte code of wheels, by name; what has another name is left out. The store
/// need not exist. Error: io.
[[nodiscard]] Result<std::vector<StoredEntry>> list_wheels(const std::string& store);
[[nodiscard]] Result<std::vector<StoredEntry>> list_byte_code(const std::string& store);

/// The one in `folder`.
[[nodiscard]] StoredEntry read_stored_entry(const std::string& folder);

struct DamagedFile {
  std::string path;  ///< in the wheel
  std::string fact;  ///< "is missing", "has another content"
};
/// Compares every file of a complete entry with its size and hash, by several threads. Files that
/// this user cannot read count as damaged.
[[nodiscard]] std::vector<DamagedFile> find_damage(const StoredEntry& entry);

}  // namespace axle::installer
