#pragma once
// The names that a package can be imported by, from its RECORD, from the folders in its .pth files
// (Python documentation, "site") and from the finders that setuptools makes for editable installs
// (its user guide, "Development Mode").

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doctor/installed_files.h"
#include "foundation/report/error.h"

namespace axle::doctor {

struct ImportName {
  std::string name;  ///< "google.protobuf.message"
  std::string path;  ///< relative to site-packages, or absolute outside of it
  /// Among those in one folder Python uses the lowest: a package, a compiled module, a source file,
  /// byte code alone; then those of folders in .pth files, which come after site-packages, and of
  /// finders, which are asked after all of sys.path.
  unsigned rank = 0;
  enum class By : std::uint8_t { record, pth_folder, finder };
  By by = By::record;
};

/// A folder without __init__.py is not a name of its own: several packages may share it.
[[nodiscard]] std::vector<ImportName> import_names(const InstalledPackageFiles& package);

/// The modules and packages directly in a folder, with absolute paths; several of one name differ
/// in rank. `suffixes`: of the compiled modules that the interpreter loads (".abi3.so"), all of
/// them; empty: those of every interpreter are taken.
[[nodiscard]] std::vector<ImportName> modules_in(const std::string& folder,
                                                 const std::vector<std::string>& suffixes = {});

/// The same in a zip archive, or in a folder of it ("/lib.zip/src"); nothing compiled is loaded
/// from there. Errors: not_found: `path` leads into none; malformed, unsupported, io.
[[nodiscard]] Result<std::vector<ImportName>> modules_in_archive(const std::string& path);

/// Names and where they are, from the one line that setuptools' finder of an editable install has
/// for them: MAPPING: dict[str, str] = {'demo': '/src/demo', 'more': '/src/more'}. Ends at what is
/// not written like that.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> finder_mapping(
    std::string_view text);

/// The folder on sys.path that a module is in: of "/a/demo/__init__.py" and "/a/demo.so" "/a".
[[nodiscard]] std::string folder_of_module(const std::string& path);

}  // namespace axle::doctor
