#pragma once
// Everything that a wheel adds to an environment, including scripts and metadata.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "installer/durability/unflushed_change.h"
#include "installer/environment/environment.h"
#include "installer/store/store.h"
#include "installer/transaction/layout.h"
#include "plan/resolution.h"

namespace axle::installer {

struct NewFile {
  std::string target;  ///< absolute, links resolved
  std::string stored;  ///< path in the package's tree; empty: `content` is written
  std::string content;
  bool executable = false;
  std::string sha256;  ///< in the format of RECORD
  std::uint64_t size = 0;
  unsigned stored_mode = 0;          ///< permissions of `stored`
  std::int64_t stored_modified = 0;  ///< nanoseconds
  std::uint64_t stored_inode = 0;    ///< 0: unknown
  /// `stored` is in the tree of byte code. No RECORD has it, as with uv: it goes with its module.
  bool byte_code = false;
};

struct NewPackage {
  std::string name;
  std::string title;           ///< "name version"
  std::string tree;            ///< folder in the store
  std::string byte_code_tree;  ///< the same of its byte code; empty: it has none
  WheelOrigin origin;
  std::string dist_info;  ///< absolute
  std::vector<NewFile> files;
};

/// A file that Axle writes itself.
[[nodiscard]] NewFile written_file(std::string target, std::string content, bool executable);

/// `target` as a RECORD in the folder `site` lists it.
[[nodiscard]] std::string record_path(std::string_view site, std::string_view target);

/// `layout` is of `wheel`, `byte_code` too. `requested` also if the replaced version was. Errors:
/// io, unsupported (an interpreter path that cannot be used in a script).
[[nodiscard]] Result<NewPackage> prepare_package(const plan::ResolvedPackage& package,
                                                 WheelContents wheel, Layout layout,
                                                 const std::optional<StoreEntry>& byte_code,
                                                 const Environment& environment, bool requested);

}  // namespace axle::installer
