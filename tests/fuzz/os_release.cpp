#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "detect/os_facts.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string name = axle::detect::parse_os_release(text);
  // A name and a version at most, and nothing that moves a cursor.
  if (name.size() > 2 * 128 + 1) std::abort();
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') std::abort();
  }
  static_cast<void>(axle::detect::parse_glibc_version(text));
  static_cast<void>(axle::detect::parse_musl_banner(text));
  return 0;
}
