#pragma once
// The plugins of the provider algorithm: which are trusted, which are run, and what the user is
// told.

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "providers/plugins/environments.h"
#include "resolver/request/plugin_host.h"
#include "session/plugins/plugin_failures.h"
#include "session/plugins/provider_settings.h"

namespace axle::session {

/// Time and memory limits from the settings, and the environment variables that a plugin may see.
[[nodiscard]] plugins::AskOptions ask_options(const ProviderSettings& settings);

/// The plugin in a trusted file.
[[nodiscard]] plugins::Plugin plugin_of(const TrustedFile& file);
/// nullopt: the file is unchanged since it was trusted. Otherwise why it may not run, as a clause,
/// and the command that trusts its current content.
struct Distrust {
  std::string why;
  std::string hint;
};
[[nodiscard]] std::optional<Distrust> distrust_of(const TrustedFile& file);

/// `variant providers trust …`, to be pasted into a shell.
[[nodiscard]] std::string trust_command(std::span<const std::string> names);
[[nodiscard]] std::string trust_command(const TrustedFile& file);

/// What cannot be restricted because a kernel feature is missing, as warnings.
void warn_of_lacks(Report& report);

class TrustedPlugins final : public resolver::PluginHost {
 public:
  struct Setup {
    ProviderSettings settings;
    bool elsewhere = false;  ///< --for: plugins can only report on this machine, so none is run
    plugins::Environments* environments = nullptr;  ///< nullptr: no Python plugin is run
    PluginFailures failures;
  };
  /// Everything that `setup` points to must outlive the host.
  explicit TrustedPlugins(Setup setup) : setup_(std::move(setup)) {}
  TrustedPlugins(const TrustedPlugins&) = delete;
  TrustedPlugins& operator=(const TrustedPlugins&) = delete;

  [[nodiscard]] std::vector<resolver::PluginLists> ask(
      std::span<const resolver::PluginRequest> requests, Report& report) override;

 private:
  /// A request for a plugin: all plugins are run together.
  struct Asked {
    std::string key;
    plugins::Plugin plugin;
    std::string detail;
  };

  [[nodiscard]] std::optional<Asked> prepare(const resolver::PluginRequest& request,
                                             Report& report);
  [[nodiscard]] std::optional<Asked> prepare_file(const resolver::PluginRequest& request,
                                                  const TrustedFile& file, Report& report);
  [[nodiscard]] std::optional<Asked> prepare_package(const resolver::PluginRequest& request,
                                                     Report& report);
  void ask_now(std::span<const Asked> asked, Report& report);
  /// A plugin that failed recently is not run again, which is reported.
  [[nodiscard]] bool take_remembered(const Asked& one, const plugins::AskOptions& options,
                                     Report& report);
  void take_answer(const Asked& one, plugins::PluginAnswer answer, Report& report);
  void refuse(const resolver::PluginRequest& request, plan::ListOrigin origin,
              const std::string& why, const std::string& hint, Report& report);

  Setup setup_;
  std::map<std::string, resolver::PluginLists, std::less<>> known_;
  bool lacks_said_ = false;
};

}  // namespace axle::session
