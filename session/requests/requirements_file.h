#pragma once
// Requirements files, as pip reads them (pip's "Requirements File Format").

#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "session/options.h"
#include "session/requests/remote_text.h"
#include "wheel/hash/listed_hash.h"

namespace axle::session {

struct FileRequirement {
  std::string text;  ///< a requirement, or the path or URL of a package
  std::vector<wheel::ListedHash> hashes = {};
  std::string origin = {};  ///< "requirements.txt:3"; "pyproject.toml:7, group test"
  std::string folder = {};  ///< of the file; paths count from the working folder all the same
  bool editable = false;    ///< -e
};

/// What files of requirements say besides, and which they were.
struct FilesRead {
  Arguments options;                ///< of the whole command: -i, --no-binary, …
  std::vector<std::string> places;  ///< paths, "-", or URLs; also of the files that they name
};

struct RequirementsFile {
  std::vector<FileRequirement> requirements;
  std::vector<FileRequirement> constraints;
  FilesRead read;
};

/// "NAME @ URL; marker" as PEP 508 has it: pip and uv end a URL before "; ", the PEP at a space.
[[nodiscard]] std::string space_before_marker(std::string text);

/// Comments, continued lines, ${VARIABLES}, --hash, nested -r and -c (relative to the file, each
/// file once). `path`: also "-" for stdin, and URLs, which `remote` reads; what a server has names
/// no file of this machine. Errors: not_found/io for the file, malformed with file and line (an
/// option that cannot be honoured).
[[nodiscard]] Result<void> read_requirements_file(const std::string& path, bool as_constraints,
                                                  const RemoteText& remote, RequirementsFile& into);

}  // namespace axle::session
