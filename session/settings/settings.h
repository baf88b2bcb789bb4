#pragma once
// The values of the command line, of pip's and uv's variables and of their configuration files,
// combined. Axle has no default index of its own: it uses the one that pip or uv would use.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "index/http/transport.h"
#include "index/pages/index_strategy.h"
#include "installer/transaction/link_mode.h"
#include "resolver/request/prereleases.h"
#include "session/command_failure.h"
#include "session/options.h"

namespace axle::session {

class WeighedLayers;

/// One value of a setting and its origin: "--constraint", "PIP_CONSTRAINT", "/etc/pip.conf:3".
struct Stated {
  std::string value;
  std::string origin;
  /// Its position within its source; for files, the line. Used where the order of settings matters.
  unsigned turn = 0;
};

/// One entry of --no-binary or --only-binary.
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

/// One entry of `[tool.uv.sources]`. Exactly one of `index`, `url` and `unsupported` is set.
struct PackageSource {
  std::string package;  ///< normalised
  std::string index;    ///< the name of a configured index
  std::string url;      ///< of a wheel or of sources (resolver/request/source_url.h)
  /// Why Axle does not support it ("a project of the workspace, which uv must build"): the package
  /// must not come from anywhere else.
  std::string unsupported;
  bool editable = false;  ///< `url` is a folder, whose modules are used where they are
  bool relative = false;  ///< `url` is of a path that is written relative to the file
  bool member = false;    ///< of the workspace of the file (uv_project.h), whose folder is `url`
  std::string marker;     ///< holds only where this does; "" always
  std::string extra;      ///< only for this extra of the project; "" always
  std::string group;      ///< only for this dependency group of the project; "" always
  std::string origin;
};

/// Files uploaded at this time or later are ignored.
struct Cutoff {
  std::string time;  ///< UTC, always "2026-11-22T08:00:00.000000Z": text compares as time does
  std::string origin;
};

struct Settings {
  // Where packages come from.
  /// In the order in which they are queried, the default last. If no default is set, pip's own is
  /// used. Empty with `no_index`.
  std::vector<ConfiguredIndex> indexes;
  index::IndexStrategy index_strategy = index::IndexStrategy::first_index;
  std::vector<PackageSource> sources;
  bool no_sources = false;              ///< of any project
  std::set<std::string> no_sources_of;  ///< normalised names
  std::vector<Stated> find_links;
  bool no_index = false;
  std::string no_index_origin;
  bool offline = false;
  // How servers are accessed.
  std::string ca_file;
  std::string ca_folder;
  std::string client_cert;
  std::string http_proxy;   ///< for http URLs
  std::string https_proxy;  ///< for https URLs
  std::string no_proxy;
  unsigned timeout_seconds = 15;
  unsigned retries = 3;
  bool refresh = false;  ///< pages are requested again even if they are fresh
  std::vector<std::string> trusted_hosts;
  KeyringProvider keyring_provider = KeyringProvider::disabled;
  // What is shown.
  std::string progress = "auto";  ///< auto, on, off or json
  // How files are verified.
  /// Set and true: every requirement must be pinned and have a hash. Not set: as soon as one has a
  /// hash (pip's rule). Set and false: the given hashes are checked, and no others are required.
  std::optional<bool> require_hashes;
  std::string require_hashes_origin;
  bool verify_hashes = true;
  // What is eligible.
  std::vector<FormatWord> formats;  ///< of --no-binary and --only-binary: the later one wins
  /// Of uv's no-build: ":all:" or a normalised name, and who says so.
  std::map<std::string, std::string, std::less<>> no_build;
  std::vector<Stated> build_constraint_files;  ///< paths or URLs
  std::vector<Stated> build_constraint_texts;  ///< requirements
  bool build_isolation = true;                 ///< false: builds use the environment's packages
  std::vector<Stated> config_settings;         ///< KEY=VALUE, of the build backend
  /// What pip or uv is told about builds and Axle does not pass on; nothing is built then.
  std::vector<Stated> build_settings;
  std::optional<Cutoff> exclude_newer;
  /// Normalised names; nullopt: `exclude_newer` does not apply to this package.
  std::map<std::string, std::optional<Cutoff>, std::less<>> exclude_newer_package;
  resolver::Prereleases prereleases = resolver::Prereleases::if_necessary_or_explicit;
  bool no_deps = false;
  bool no_editable = false;              ///< -e counts as a folder like others
  std::set<std::string> no_editable_of;  ///< normalised names
  bool upgrade = false;
  std::set<std::string> upgrade_of;  ///< normalised names
  bool reinstall = false;
  std::set<std::string> reinstall_of;  ///< normalised names
  installer::LinkMode link_mode = installer::LinkMode::best;
  bool compile_bytecode = false;
  std::vector<Stated> constraint_files;  ///< paths, besides those of --constraint
  std::vector<Stated> constraint_texts;  ///< requirements that stand in a configuration
  std::vector<Stated> override_files;    ///< paths, those of --overrides too
  std::vector<Stated> override_texts;
};

/// What a single source says, before the target is known: whatever is wrong in itself is the
/// problem of `layers`.
void check_values(WeighedLayers& layers);

/// `python_prefix`: of the target environment, for its own pip.conf; may be empty. Errors: usage,
/// with file and line or variable, for a value or file that is not valid.
/// `pip_section`: of pip's files, that counts beside [global].
[[nodiscard]] Outcome<Settings> read_settings(const Arguments& arguments,
                                              const std::string& python_prefix,
                                              std::string_view pip_section = "install");

}  // namespace axle::session
