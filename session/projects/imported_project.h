#pragma once
// What another tool's file says of a project: requirements.txt, pylock.toml (PEP 751), uv.lock,
// poetry.lock, and a pyproject.toml of poetry's.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "session/requests/remote_text.h"
#include "wheel/version.h"

namespace axle::session {

/// Versions that a first lock prefers, by normalised name, the first before the others. They
/// exclude nothing.
using Pins = std::map<std::string, std::vector<wheel::Version>, std::less<>>;

struct ImportedProject {
  std::string name;                       ///< as written; empty: the file does not say it
  std::string requires_python;            ///< a specifier set; empty: likewise
  std::vector<std::string> dependencies;  ///< PEP 508, as those of extras and groups
  std::map<std::string, std::vector<std::string>, std::less<>> extras;
  std::map<std::string, std::vector<std::string>, std::less<>> groups;
  Pins pins;
  std::vector<Remark> remarks;  ///< what of it is not taken, with its line

  void warn(std::string message, std::string hint) {
    remarks.push_back({Severity::warning, std::move(message), std::move(hint)});
  }
  void warn_all(std::vector<Remark> more) {
    for (Remark& one : more) remarks.push_back(std::move(one));
  }
};

enum class ImportKind : std::uint8_t { requirements, pylock, uv_lock, poetry_lock, poetry_project };

/// By the name of the file.
[[nodiscard]] ImportKind import_kind(std::string_view path);

/// Reads `path` (also a URL of a requirements file, or "-"), with the pyproject.toml beside a
/// poetry.lock. Of a name with several versions, for several platforms, the newest comes first.
/// Errors: not_found, io; malformed with line and key; unsupported: a newer format.
[[nodiscard]] Result<ImportedProject> read_import(const std::string& path,
                                                  const RemoteText& remote);

// The parsers of single formats. `where` is named in errors.

/// Version 1. What the project at the root of the file requires, and the versions of what that
/// reaches.
[[nodiscard]] Result<ImportedProject> parse_uv_lock(std::string_view text,
                                                    const std::string& where);
/// Version 1.x. It does not say what was asked for: that is what no other package needs, if it
/// lists dependencies, and else everything.
[[nodiscard]] Result<ImportedProject> parse_pylock(std::string_view text, const std::string& where);
/// The versions alone.
[[nodiscard]] Result<ImportedProject> parse_poetry_lock(std::string_view text,
                                                        const std::string& where);
/// [tool.poetry].
[[nodiscard]] Result<ImportedProject> parse_poetry_project(std::string_view text,
                                                           const std::string& where);
/// poetry's "^1.2" and "~1.2" as PEP 440: ">=1.2,<2.0". Error: malformed, also for "||", which
/// PEP 440 does not have.
[[nodiscard]] Result<std::string> poetry_specifiers(std::string_view constraint);

}  // namespace axle::session
