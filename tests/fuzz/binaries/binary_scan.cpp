// A whole library as `variant doctor` meets it in an environment.
#include "binaries/binary_scan.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto source = wheel::memory_source(bytes);
  (void)binaries::scan_binary(*source, "fuzz");
  binaries::SyclImages images;
  (void)binaries::read_sycl_section(*source, "__CLANG_OFFLOAD_BUNDLE__sycl-spir64_gen", 0, size,
                                    images);
  return 0;
}
