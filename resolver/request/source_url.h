#pragma once
// URLs that name one package itself: a wheel, or sources that a wheel is built from, in pip's
// syntax (pip's "VCS Support"): https://host/demo.zip#subdirectory=x&sha256=…, file:///folder,
// git+https://host/demo@revision#egg=demo.

#include <cstdint>
#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::resolver {

struct SourceUrl {
  enum class Kind : std::uint8_t { wheel, archive, folder, repository };
  Kind kind = Kind::wheel;
  std::string url;           ///< without "git+", revision and fragment, with the login
  std::string revision;      ///< of a repository: branch, tag or commit; empty: its default branch
  std::string subdirectory;  ///< of the project in the sources: relative, without ".."
  std::string name;          ///< that "#egg=" says, normalised; empty: none

  /// Its hash can be compared before anything of it runs.
  [[nodiscard]] bool is_file() const { return kind == Kind::wheel || kind == Kind::archive; }
};

/// Where a file of that name is an archive of sources ("demo.tar.gz").
[[nodiscard]] bool is_archive_name(std::string_view name);
/// "git+https://…", "hg+ssh://…"
[[nodiscard]] bool names_repository(std::string_view url);
/// A whole commit id, so that what it stands for never changes.
[[nodiscard]] bool is_commit(std::string_view revision);

/// Error: malformed, for revision, subdirectory or name, for a repository that is not git's or is
/// reached in a way that is not git's own, and for a file of a server that is neither wheel nor
/// archive.
[[nodiscard]] Result<SourceUrl> parse_source_url(std::string_view url);

/// `url` without "#egg=", which says what is known already, so that two spellings are one.
[[nodiscard]] std::string without_egg(std::string_view url);
/// The form for direct_url.json (PEP 610): without user name and password, but for the user `git`.
[[nodiscard]] std::string without_login(std::string_view url);

}  // namespace axle::resolver
