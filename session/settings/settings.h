#pragma once
// What the command line, pip's and uv's variables and their configuration files ask for, as one
// value. Axle has no default index of its own: it takes what pip or uv would take.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "index/pages/index_strategy.h"
#include "session/command_failure.h"
#include "session/options.h"

namespace axle::session {

/// One value of a setting and who said it: "--constraint", "PIP_CONSTRAINT", "/etc/pip.conf:3".
struct Stated {
  std::string value;
  std::string origin;
  /// Within its place, when it was said; of files, the line. For what one setting says after
  /// another.
  unsigned turn = 0;
};

/// One word of --no-binary or --only-binary.
struct FormatWord {
  bool forbids = false;  ///< wheels, as --no-binary does
  std::string name;      ///< ":all:", ":none:" or normalised
  std::string origin;
};

struct ConfiguredIndex {
  std::string name;            ///< of `[[index]]` or `name=URL`; else ""
  std::string url;             ///< http(s), file, or an absolute path
  bool is_default = false;     ///< asked after the others; takes the place of pip's own default
  bool explicit_only = false;  ///< asked only for packages whose source names it
  std::string origin;
  std::set<int> absent_codes = {};  ///< HTTP statuses that count as 404: `ignore-error-codes`
  index::Authenticate authenticate = index::Authenticate::when_known;
};

enum class KeyringProvider : std::uint8_t { disabled, subprocess };

/// Which pre-releases may be chosen (uv's names; `--pre` is `allow`).
enum class Prereleases : std::uint8_t {
  disallow,
  allow,
  if_necessary,
  explicitly,  ///< uv's `explicit`: those whose requirement names one
  if_necessary_or_explicit
};

/// One entry of `[tool.uv.sources]`: where a package comes from. Of `index`, `url` and
/// `unsupported` one is set.
struct PackageSource {
  std::string package;  ///< normalised
  std::string index;    ///< the name of a configured index
  std::string url;      ///< http(s) or file URL of a wheel
  /// Why Axle cannot take it ("a repository, which pip or uv must build"): the package must not
  /// come from anywhere else.
  std::string unsupported;
  std::string marker;  ///< holds only where this does; "" always
  std::string extra;   ///< only for this extra of the project; "" always
  std::string group;   ///< only for this dependency group of the project; "" always
  std::string origin;
};

/// Files uploaded at this time or later do not exist.
struct Cutoff {
  std::string time;  ///< UTC, always "2026-11-22T08:00:00.000000Z": text compares as time does
  std::string origin;
};

struct Settings {
  // Where packages come from.
  /// In the order in which they are asked, the default last. None of them is the default when
  /// nothing says one: then pip's own is. Empty with `no_index`.
  std::vector<ConfiguredIndex> indexes;
  index::IndexStrategy index_strategy = index::IndexStrategy::first_index;
  std::vector<PackageSource> sources;
  std::vector<Stated> find_links;
  bool no_index = false;
  std::string no_index_origin;
  bool offline = false;
  // How the servers are spoken to.
  std::string ca_file;
  std::string http_proxy;   ///< for http URLs
  std::string https_proxy;  ///< for https URLs
  std::string no_proxy;
  unsigned timeout_seconds = 15;
  std::vector<std::string> trusted_hosts;
  KeyringProvider keyring_provider = KeyringProvider::disabled;
  // Whether it is checked.
  /// Set and true: every requirement is pinned and has a hash. Not set: as soon as one has a hash
  /// (pip's rule). Set and false: hashes that are there are checked, and no others are asked for.
  std::optional<bool> require_hashes;
  std::string require_hashes_origin;
  bool verify_hashes = true;
  // What is chosen.
  std::vector<FormatWord> formats;  ///< of --no-binary and --only-binary: the later one wins
  std::optional<Cutoff> exclude_newer;
  /// Normalised names; nullopt: `exclude_newer` does not hold for this package.
  std::map<std::string, std::optional<Cutoff>, std::less<>> exclude_newer_package;
  Prereleases prereleases = Prereleases::if_necessary_or_explicit;
  bool no_deps = false;
  bool upgrade = false;
  bool reinstall = false;
  std::vector<Stated> constraint_files;  ///< paths, besides those of --constraint
  std::vector<Stated> constraint_texts;  ///< requirements that stand in a configuration
  std::vector<Stated> override_files;    ///< paths, those of --overrides too
  std::vector<Stated> override_texts;
};

/// `python_prefix`: of the target environment, for its own pip.conf; may be empty.
/// Errors: usage, naming file and line or variable, for what is not a valid value or file.
[[nodiscard]] Outcome<Settings> read_settings(const Arguments& arguments,
                                              const std::string& python_prefix, Report& report);

}  // namespace axle::session
