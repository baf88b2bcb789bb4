#pragma once
// Failures of plugins that took time: cached, so that not every command pays for them again. They
// are valid until the plugin's files, the machine or its inputs change, for an hour at most.

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
  /// Nothing is stored with --no-cache.
  explicit PluginFailures(const Session& session);

  /// Files that belong to someone else, or were not written by `note`, are ignored.
  [[nodiscard]] std::optional<RememberedFailure> find(const plugins::Plugin& plugin,
                                                      const plugins::AskOptions& options) const;
  /// Stores a failure that took a second or more, or in which the plugin had to be stopped or ended
  /// without an answer; others are cheap. Write errors are ignored.
  void note(const plugins::Plugin& plugin, const plugins::AskOptions& options,
            const plugins::PluginAnswer& answer) const;
  /// The number of failures of plugins of that namespace.
  std::size_t forget(std::string_view ns) const;

 private:
  [[nodiscard]] std::string path_of(const plugins::Plugin& plugin,
                                    const plugins::AskOptions& options) const;

  std::string folder_;  ///< empty: none
};

/// "5 minutes", "1 minute", "20 seconds"
[[nodiscard]] std::string render_span(std::chrono::seconds span);

}  // namespace axle::session
