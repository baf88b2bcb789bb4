#pragma once
// Failures of plugins that cost time: kept in the cache, so that not every command pays for them
// again. They hold until the plugin's files, the machine, what it is asked with, or an hour change.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "providers/plugins/plugin.h"

namespace axle::session {

class Session;

struct RememberedFailure {
  std::string message;  ///< of plugins::PluginFailure
  std::string hint;
  std::chrono::seconds ago{0};
};

class PluginFailures {
 public:
  /// Nothing is remembered with --no-cache.
  explicit PluginFailures(const Session& session);

  /// What is not this user's own file, or not what `note` writes, is as if it were not there.
  [[nodiscard]] std::optional<RememberedFailure> find(const plugins::Plugin& plugin,
                                                      const plugins::AskOptions& options) const;
  /// Keeps a failure that took a second or more, or in which the plugin had to be ended or ended by
  /// itself without a word; others cost little. What cannot be written is not kept.
  void note(const plugins::Plugin& plugin, const plugins::AskOptions& options,
            const plugins::PluginAnswer& answer) const;
  /// How many there were of the plugins of that namespace.
  std::size_t forget(std::string_view ns) const;

 private:
  [[nodiscard]] std::string path_of(const plugins::Plugin& plugin,
                                    const plugins::AskOptions& options) const;

  std::string folder_;  ///< empty: none
};

/// "5 minutes", "1 minute", "20 seconds"
[[nodiscard]] std::string render_span(std::chrono::seconds span);

}  // namespace axle::session
