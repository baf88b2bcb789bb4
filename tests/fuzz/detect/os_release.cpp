#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "detect/os/container_marks.h"
#include "detect/os/os_facts.h"

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
  // Of what stands in these, only words and numbers get through.
  for (const std::string& word :
       {axle::detect::parse_tegra_release(text), axle::detect::parse_containerenv(text),
        axle::detect::parse_container_word(text), axle::detect::parse_container_cgroup(text)}) {
    if (word.size() > 32) std::abort();
    for (const char c : word) {
      if (c <= ' ' || c > 'z') std::abort();
    }
  }
  return 0;
}
