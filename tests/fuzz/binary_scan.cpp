// A whole library as `variant doctor` meets it in an environment.
#include "builder/binary_scan.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto source = wheel::memory_source(bytes);
  (void)builder::scan_binary(*source, "fuzz");
  builder::SyclImages images;
  (void)builder::read_sycl_section(*source, "__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen", 0, size,
                                   images);
  return 0;
}
