#include "providers/plugins/provider_sink.h"

#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace axle::plugins {
namespace {

constexpr std::size_t most_reasons = 16;

pid_t this_thread() { return static_cast<pid_t>(::syscall(SYS_gettid)); }

ProviderSink& of(const axle_provider_sink* sink) { return *static_cast<ProviderSink*>(sink->host); }

}  // namespace

std::optional<std::string_view> bounded_text(const char* text, std::size_t most) {
  if (text == nullptr) return std::nullopt;
  const std::size_t length = ::strnlen(text, most + 1);
  if (length > most) return std::nullopt;
  return std::string_view(text, length);
}

ProviderSink::ProviderSink() : c_sink_{}, owner_(this_thread()) {
  c_sink_.struct_size = sizeof(axle_provider_sink);
  c_sink_.abi_version = AXLE_PROVIDER_ABI_VERSION;
  c_sink_.host = this;
  c_sink_.feature = on_feature;
  c_sink_.value = on_value;
  c_sink_.reason = on_reason;
}

std::string ProviderSink::mistake() const {
  if (mistake_.empty() && called_by_stranger_)
    return "it used the sink on a thread other than the query's";
  return mistake_;
}

// No exception may propagate through the provider's frames: they may be C.

std::int32_t ProviderSink::on_feature(const axle_provider_sink* sink, const char* name,
                                      std::int32_t kind) {
  try {
    return of(sink).take_feature(name, kind);
  } catch (...) {
    return AXLE_PROVIDER_REFUSED;
  }
}

std::int32_t ProviderSink::on_value(const axle_provider_sink* sink, const char* value) {
  try {
    return of(sink).take_value(value);
  } catch (...) {
    return AXLE_PROVIDER_REFUSED;
  }
}

std::int32_t ProviderSink::on_reason(const axle_provider_sink* sink, const char* text) {
  try {
    return of(sink).take_reason(text);
  } catch (...) {
    return AXLE_PROVIDER_REFUSED;
  }
}

bool ProviderSink::is_callable() {
  if (this_thread() != owner_) {
    called_by_stranger_ = true;
    return false;
  }
  return open_ && mistake_.empty();
}

std::int32_t ProviderSink::refuse(std::string mistake) {
  mistake_ = std::move(mistake);
  return AXLE_PROVIDER_REFUSED;
}

std::int32_t ProviderSink::take_feature(const char* name, std::int32_t kind) {
  if (!is_callable()) return AXLE_PROVIDER_REFUSED;
  const auto text = bounded_text(name, AXLE_PROVIDER_MAX_TEXT);
  if (!text) {
    return refuse(fmt::format("feature() got a name that is NULL or longer than {} bytes",
                              AXLE_PROVIDER_MAX_TEXT));
  }
  if (kind != AXLE_PROVIDER_SINGLE && kind != AXLE_PROVIDER_MULTI)
    return refuse(fmt::format("feature(\"{}\") got the unknown kind {}", *text, kind));
  if (features_.size() == AXLE_PROVIDER_MAX_FEATURES)
    return refuse(fmt::format("it has more than {} features", AXLE_PROVIDER_MAX_FEATURES));
  features_.push_back({std::string(*text), kind == AXLE_PROVIDER_MULTI, {}});
  return AXLE_PROVIDER_OK;
}

std::int32_t ProviderSink::take_value(const char* value) {
  if (!is_callable()) return AXLE_PROVIDER_REFUSED;
  const auto text = bounded_text(value, AXLE_PROVIDER_MAX_TEXT);
  if (!text) {
    return refuse(fmt::format("value() got a text that is NULL or longer than {} bytes",
                              AXLE_PROVIDER_MAX_TEXT));
  }
  if (features_.empty())
    return refuse(fmt::format("value(\"{}\") comes before any feature()", *text));
  if (values_ == AXLE_PROVIDER_MAX_VALUES)
    return refuse(fmt::format("it has more than {} values", AXLE_PROVIDER_MAX_VALUES));
  ++values_;
  features_.back().values.emplace_back(*text);
  return AXLE_PROVIDER_OK;
}

std::int32_t ProviderSink::take_reason(const char* text) {
  if (!is_callable()) return AXLE_PROVIDER_REFUSED;
  const auto reason = bounded_text(text, AXLE_PROVIDER_MAX_REASON);
  if (!reason) {
    return refuse(fmt::format("reason() got a text that is NULL or longer than {} bytes",
                              AXLE_PROVIDER_MAX_REASON));
  }
  if (reasons_.size() < most_reasons) reasons_.emplace_back(*reason);
  return AXLE_PROVIDER_OK;
}

}  // namespace axle::plugins
