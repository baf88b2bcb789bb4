#pragma once
// The user's trusted plugins and enabled namespaces: `$XDG_CONFIG_HOME/axle/providers.toml`
// (docs/plugins.md). `variant providers trust` and similar commands rewrite it completely,
// including comments.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "providers/plugins/plugin.h"
#include "resolver/request/provider_policy.h"
#include "session/command_failure.h"
#include "session/options.h"

namespace axle::session {

/// A package whose plugin may run.
struct TrustedPackage {
  std::string name;                       ///< normalised
  std::string ns;                         ///< only for this namespace; empty: for any
  std::vector<std::string> devices = {};  ///< patterns: nodes that it may open for writing
};

/// A program or shared object that may run while it is unchanged since it was trusted.
struct TrustedFile {
  std::string path;  ///< absolute
  std::string ns;    ///< that it provides
  plugins::PluginKind kind = plugins::PluginKind::executable;
  std::string sha256;                     ///< 64 hex digits
  std::vector<std::string> devices = {};  ///< as for packages
};

struct ProviderSettings {
  std::set<std::string, std::less<>> enabled;   ///< optional namespaces that are enabled
  std::set<std::string, std::less<>> disabled;  ///< namespaces that are disabled
  std::vector<TrustedPackage> packages;
  std::vector<TrustedFile> files;
  std::optional<std::int64_t> time_limit;    ///< seconds that a plugin may take
  std::optional<std::int64_t> memory_limit;  ///< MiB that a plugin may have

  [[nodiscard]] bool trusts(std::string_view package, std::string_view ns) const;
  [[nodiscard]] bool is_on(std::string_view ns) const { return !disabled.contains(ns); }
};

/// "" if neither XDG_CONFIG_HOME nor HOME is set.
[[nodiscard]] std::string provider_settings_path();

/// Strict: unknown keys are rejected. `where` names the file in errors.
[[nodiscard]] Result<ProviderSettings> parse_provider_settings(std::string_view text,
                                                               const std::string& where);
[[nodiscard]] std::string render_provider_settings(const ProviderSettings& settings);

/// Empty if there is no file. Errors: what is wrong with it; io if others may write to it.
[[nodiscard]] Outcome<ProviderSettings> read_provider_settings();
/// Reads, changes and replaces the file, one command at a time.
[[nodiscard]] Outcome<void> change_provider_settings(
    const std::function<Outcome<void>(ProviderSettings&)>& change);

/// The settings of this run: the file, then --enable-provider and --disable-provider.
[[nodiscard]] Outcome<resolver::ProviderPolicy> provider_policy(const ProviderSettings& settings,
                                                                const Arguments& arguments);

/// The hash, in hex, of a file that may be trusted. Errors: not_found, io; unsupported if others
/// may write or replace it, which would allow a change before it is started.
[[nodiscard]] Result<std::string> sha256_of(const std::string& path);

/// The patterns of `--device`. Errors: usage for one that does not match device nodes.
[[nodiscard]] Outcome<std::vector<std::string>> device_option(const Arguments& arguments);

[[nodiscard]] bool is_namespace(std::string_view text);
/// `name` itself, or the namespace of the bundled provider with that package name.
[[nodiscard]] std::string namespace_named(const std::string& name);

}  // namespace axle::session
