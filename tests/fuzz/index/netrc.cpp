// A netrc file: entries have passwords, and no more of them than there are words.
#include "index/http/netrc.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto entries = axle::index::parse_netrc(text, "netrc");
  if (!entries) {
    if (!entries.error().message.starts_with("netrc:")) std::abort();
    return 0;
  }
  if (entries->size() > size) std::abort();
  for (const axle::index::NetrcEntry& entry : *entries) {
    if (entry.password.empty() || entry.password.size() > size) std::abort();
  }
  return 0;
}
