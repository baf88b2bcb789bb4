#include "session/plugins/provider_settings.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

/// What is read must come back from what is written.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto settings = axle::session::parse_provider_settings(text, "providers.toml");
  if (!settings) return 0;
  const std::string written = axle::session::render_provider_settings(*settings);
  const auto again = axle::session::parse_provider_settings(written, "providers.toml");
  if (!again || axle::session::render_provider_settings(*again) != written) std::abort();
  return 0;
}
