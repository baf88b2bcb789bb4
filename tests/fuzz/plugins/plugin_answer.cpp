#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "providers/plugins/answer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto features = axle::plugins::parse_answer(text, "acme");
  if (features && features->size() > axle::plugins::max_features) std::abort();
  if (!features && features.error().message.size() > 2000) std::abort();
  (void)axle::plugins::parse_namespace(text);
  const axle::plugins::PluginNotes notes = axle::plugins::parse_notes(text);
  for (const std::string& reason : notes.reasons) {
    if (reason.find('\n') != std::string::npos || reason.size() > 2000) std::abort();
  }
  const std::string shown = axle::plugins::printable(text, 256);
  if (shown.size() > 256) std::abort();
  for (const char c : shown) {
    if (c != '\n' && static_cast<unsigned char>(c) < 0x20) std::abort();
  }
  return 0;
}
