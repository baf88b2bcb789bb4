#pragma once
// The store's record of an unpacked wheel: everything that installing it needs, so that it is
// neither downloaded nor opened again.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::installer {

struct StoredFile {
  std::string path;    ///< inside the wheel
  std::string sha256;  ///< in the format of RECORD
  std::uint64_t size = 0;
  std::int64_t modified =
      0;  ///< seconds; together with the size it shows whether the store was modified
  bool executable = false;
  // The current values in the store; not part of the manifest's text.
  unsigned mode = 0;              ///< permissions
  std::int64_t modified_now = 0;  ///< nanoseconds
  std::uint64_t inode = 0;        ///< on the device of its tree; 0: unknown
  friend bool operator==(const StoredFile&, const StoredFile&) = default;
};

struct Manifest {
  std::string file_name;  ///< the wheel's
  std::string dist_info;  ///< "name-1.0.dist-info"
  bool purelib = true;
  std::string entry_points;  ///< text of entry_points.txt, empty if there is none
  /// METADATA may have variant markers; the first stores did not record it.
  bool variant_markers = false;
  std::vector<StoredFile> files;  ///< by path, but for those of the first stores
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

[[nodiscard]] std::string render_manifest(const Manifest& manifest);
/// Whether a later version of Axle wrote it, as its first words say.
[[nodiscard]] bool is_newer_manifest(std::string_view text);
/// Error: malformed.
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view text, std::string_view where);

}  // namespace axle::installer
