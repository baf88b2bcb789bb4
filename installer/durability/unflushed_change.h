#pragma once
// A change of an environment that may not have reached the disk: everything that makes its result
// again after a power failure. A value and its text; power_loss.h acts on it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "installer/tree/leaves.h"

namespace axle::installer {

/// A file that the environment has from then on.
struct PromisedFile {
  std::string path;     ///< relative to the environment's base, normal
  std::string stored;   ///< path in the wheel; empty: `content` is the file
  std::string content;  ///< what Axle wrote itself: RECORD, scripts
  bool executable = false;
  std::string sha256;  ///< in the format of RECORD
  std::uint64_t size = 0;
  friend bool operator==(const PromisedFile&, const PromisedFile&) = default;
};

/// The wheel whose files they are.
struct WheelOrigin {
  std::string name;      ///< normalised
  std::string version;   ///< "1.0"
  std::string filename;  ///< of the wheel
  std::string url;       ///< http(s) or file, without a login
  std::string sha256;    ///< 64 hexadecimal digits
  friend bool operator==(const WheelOrigin&, const WheelOrigin&) = default;
};

struct PromisedPackage {
  WheelOrigin wheel;
  std::string dist_info;  ///< relative to the base
  /// RECORD, and what is more than a file that RECORD lists where the wheel has it: what Axle
  /// wrote, is executable, or lies elsewhere.
  std::vector<PromisedFile> files;
  friend bool operator==(const PromisedPackage&, const PromisedPackage&) = default;
};

/// What a change took away: a file or a folder.
struct LeavingThing {
  std::string path;  ///< relative to the base
  Leaves leaves;     ///< its content when the change was made
  friend bool operator==(const LeavingThing&, const LeavingThing&) = default;
};

struct UnflushedChange {
  std::string title;  ///< "install torch 2.8.0", for messages
  std::string store;  ///< folder of the store that has the wheels
  /// Nanoseconds since 1970: files that were modified later are not of this change.
  std::int64_t latest = 0;
  std::vector<LeavingThing> leaving;
  std::vector<PromisedPackage> packages;
  friend bool operator==(const UnflushedChange&, const UnflushedChange&) = default;
};

/// `files` and those that only its RECORD lists. Error: malformed (RECORD is, or a path in it).
[[nodiscard]] Result<std::vector<PromisedFile>> all_files(const PromisedPackage& package);

[[nodiscard]] std::string render_unflushed(const UnflushedChange& change);
/// Errors: malformed (cut off, modified, or a path outside the environment), unsupported (another
/// format).
[[nodiscard]] Result<UnflushedChange> parse_unflushed(std::string_view text,
                                                      std::string_view where);

}  // namespace axle::installer
