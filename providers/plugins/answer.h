#pragma once
// A plugin's answer, as JSON: {"namespace": "x", "features": [{"name": "f", "multi_value": true,
// "values": ["a", "b"]}]}, features and values most preferred first (docs/plugins.md). Plugins are
// not trusted to be correct: anything else is rejected.

#include <cstddef>
#include <string>
#include <string_view>

#include "providers/plugins/plugin.h"

namespace axle::plugins {

inline constexpr std::size_t max_features = 512;
inline constexpr std::size_t max_values = 4096;  ///< of one feature
inline constexpr std::size_t max_name = 128;     ///< bytes of a feature or value

/// The lists in `text`, which must be for `ns`. Faults: malformed, wrong_namespace, and those in an
/// `error` of our own loader.
[[nodiscard]] std::expected<providers::Features, PluginFailure> parse_answer(std::string_view text,
                                                                             std::string_view ns);

/// The namespace alone.
[[nodiscard]] std::expected<std::string, PluginFailure> parse_namespace(std::string_view text);

/// Further members, if present and valid; nothing here is an error.
[[nodiscard]] PluginNotes parse_notes(std::string_view text);

/// `text` in printable form: control characters and invalid UTF-8 as `?`, at most `most` bytes.
[[nodiscard]] std::string printable(std::string_view text, std::size_t most);

}  // namespace axle::plugins
