// The same provider in C++11; tests/sdk/abi_guard.c guards the layout.
#include <axle_provider.h>

namespace {

int32_t say(const axle_provider_sink* sink) {
  if (!AXLE_PROVIDER_HAS(sink, reason)) return AXLE_PROVIDER_FAILED;
  axle_provider_feature(sink, "language", AXLE_PROVIDER_SINGLE);
  axle_provider_value(sink, "cpp");
  return axle_provider_reason(sink, "compiled as C++");
}

}  // namespace

#define axle_provider_entry cpp_provider_entry
extern "C" const axle_provider* cpp_provider_entry(uint32_t program_abi);
AXLE_PROVIDER("guard", "1.0", say, say);
