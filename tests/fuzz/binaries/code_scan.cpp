// A library as `variant audit` reads it: its code and its linkage.
#include "binaries/code_scan.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "binaries/linkage.h"
#include "binaries/x86_instructions.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  (void)binaries::scan_code(bytes, "fuzz");
  const auto source = wheel::memory_source(bytes);
  (void)binaries::read_linkage(*source, "fuzz");
  // The same bytes as code: always a step forward, and never beyond the end of a valid one.
  for (std::size_t at = 0; at < size;) {
    const auto one = binaries::read_x86_instruction(bytes.substr(at));
    if (one.length == 0 || one.length > binaries::longest_x86_instruction) std::abort();
    if (one.valid && one.length > size - at) std::abort();
    at += one.length;
  }
  return 0;
}
