#pragma once
// Our side of the C interface's sink: stores what a query reports, call by call, and the first
// mistake in it. Runs in the child, together with foreign code.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "providers/provider.h"
#include "providers/sdk/axle_provider.h"

namespace axle::plugins {

/// `text` if it is not NULL and ends within `most` bytes.
[[nodiscard]] std::optional<std::string_view> bounded_text(const char* text, std::size_t most);

class ProviderSink {
 public:
  ProviderSink();
  ProviderSink(const ProviderSink&) = delete;
  ProviderSink& operator=(const ProviderSink&) = delete;

  /// The sink passed to the provider. Valid as long as this object.
  [[nodiscard]] const axle_provider_sink* c_sink() const { return &c_sink_; }
  /// After the query: further calls are rejected.
  void close() { open_ = false; }

  /// Empty: there was none.
  [[nodiscard]] std::string mistake() const;
  [[nodiscard]] const providers::Features& features() const { return features_; }
  [[nodiscard]] const std::vector<std::string>& reasons() const { return reasons_; }

 private:
  static std::int32_t on_feature(const axle_provider_sink* sink, const char* name,
                                 std::int32_t kind);
  static std::int32_t on_value(const axle_provider_sink* sink, const char* value);
  static std::int32_t on_reason(const axle_provider_sink* sink, const char* text);

  [[nodiscard]] bool is_callable();
  std::int32_t take_feature(const char* name, std::int32_t kind);
  std::int32_t take_value(const char* value);
  std::int32_t take_reason(const char* text);
  std::int32_t refuse(std::string mistake);

  axle_provider_sink c_sink_;
  pid_t owner_;
  std::atomic<bool> open_ = true;
  std::atomic<bool> called_by_stranger_ = false;
  std::string mistake_;
  std::size_t values_ = 0;
  providers::Features features_;
  std::vector<std::string> reasons_;
};

}  // namespace axle::plugins
