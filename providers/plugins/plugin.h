#pragma once
// Plugins: third-party providers (PEP 850). Each runs in its own sandboxed process (sandbox.h), and
// always gets a result here: lists, or why there are none.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "providers/provider.h"

namespace axle::plugins {

enum class PluginKind : std::uint8_t { python, executable, shared_object };

struct Plugin {
  std::string ns;  ///< the namespace that it answers for
  PluginKind kind = PluginKind::executable;
  /// The name under which it is trusted: the normalised package name; for the other kinds the
  /// absolute path.
  std::string package;
  /// Absolute: the program, the shared object, or the Python interpreter of the package.
  std::string place;
  std::string plugin_api = {};  ///< of Python plugins: "module" or "module:object.attribute"
  /// What it may read besides the system and `place`: for Python plugins their environment and the
  /// installation that it is based on.
  std::vector<std::string> folders = {};
  /// Nodes that the user allows it to open for writing (grants.h): "/dev/acme*".
  std::vector<std::string> devices = {};
  /// For Python plugins that are not installed: the folder of their modules, searched first.
  std::vector<std::string> import_folders = {};
};

/// What this machine supports, or every value that any machine may support.
enum class Query : std::uint8_t { supported, all };

struct PluginLimits {
  std::chrono::milliseconds time{10'000};  ///< then the whole process group is killed
  /// Bytes of address space per process, and of resident memory of all processes together.
  std::size_t memory = std::size_t{1} << 30;
  std::size_t tasks = 1024;                     ///< threads of all processes together
  std::size_t answer = std::size_t{1} << 20;    ///< bytes; more is not an answer
  std::size_t printed = std::size_t{64} << 10;  ///< bytes of stdout and stderr that are kept
  std::size_t flood = std::size_t{16} << 20;    ///< bytes of both together, then it is killed
};

struct AskOptions {
  PluginLimits limits = {};
  /// The variables that plugins may see, with their values: the caller's selection from
  /// `passed_variables` (grants.h). PATH and LANG are always set to fixed values.
  std::vector<std::pair<std::string, std::string>> environment = {};
  /// On a machine without devices (bare_machine.h).
  bool bare_machine = false;
  bool watched = false;  ///< `PluginAnswer::attempts` are wanted
  /// The program that loads shared objects: its main calls `answer_if_asked` (shared_object.h).
  std::string loader = "/proc/self/exe";
};

/// Why a plugin gave no lists. Each makes its namespace unsupported, without other effects.
enum class PluginFault : std::uint8_t {
  not_started,      ///< no such program, or the kernel refused
  no_object,        ///< the plugin-api leads nowhere in the environment
  raised,           ///< the plugin's own code failed, and said so
  crashed,          ///< ended by a signal
  exited,           ///< ended without an answer
  timed_out,        ///< killed at the time limit
  flooded,          ///< killed for its output
  swarmed,          ///< killed for its threads and processes, or their memory
  malformed,        ///< the answer is not what the protocol says
  wrong_namespace,  ///< it answers for another namespace
  undeclared,       ///< it supports features that it does not declare
};

struct PluginFailure {
  PluginFault fault = PluginFault::not_started;
  std::string message;  ///< "it was killed after 10 s"
  std::string hint;     ///< what a person can do
};

/// What a plugin may report in addition to its lists; human-readable and printable.
struct PluginNotes {
  std::string version;               ///< its own
  std::uint64_t abi = 0;             ///< of a shared object: the interface's; 0 unknown
  std::vector<std::string> reasons;  ///< why it supports nothing, or less than one might think
  std::size_t threads = 0;           ///< that outlived the query
};

struct PluginAnswer {
  std::expected<providers::Features, PluginFailure> features;
  std::chrono::milliseconds duration{0};
  std::string printed = {};  ///< stdout and stderr, printable and bounded: for --verbose
  PluginNotes notes = {};
  std::size_t peak_memory = 0;  ///< bytes that were resident at most; 0 unknown
  /// What it attempted and was denied; nullopt: not watched, or not reported by this kernel.
  std::optional<std::vector<std::string>> attempts = {};
};

struct PluginQuery {
  const Plugin* plugin = nullptr;
  Query query = Query::supported;
};

/// Runs all plugins concurrently, each in its own process; one answer per query, in order. Returns
/// at most a moment after the time limit.
[[nodiscard]] std::vector<PluginAnswer> ask_plugins(std::span<const PluginQuery> questions,
                                                    const AskOptions& options);
[[nodiscard]] PluginAnswer ask_plugin(const Plugin& plugin, Query query,
                                      const AskOptions& options = {});

/// The namespace that the plugin reports for `supported`, run without the exceptions of any
/// namespace. For Python plugins: Plugin::ns.
[[nodiscard]] std::expected<std::string, PluginFailure> ask_namespace(const Plugin& plugin,
                                                                      const AskOptions& options);

/// The answer for an installer: `supported` of each plugin, rejected (`undeclared`) if it has a
/// feature that is not in `all`. A plugin without `all` (0.0.x, build-time only) is accepted.
[[nodiscard]] std::vector<PluginAnswer> supported_by(std::span<const Plugin> plugins,
                                                     const AskOptions& options);

[[nodiscard]] std::string_view render_kind(PluginKind kind);     ///< "python", "executable", …
[[nodiscard]] std::string_view render_query(Query query);        ///< "supported", "all"
[[nodiscard]] std::string_view render_fault(PluginFault fault);  ///< "timed_out", …

}  // namespace axle::plugins
