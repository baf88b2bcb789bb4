// Tables of what was measured: what is taken can be run, and is written as it was read.
#include "runtime/tune/tuning_table.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "runtime/linear.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using axle::fuzz::require;
  const auto table = axle::runtime::parse_tuning(
      std::string_view(reinterpret_cast<const char*>(data), size), "fuzz");
  if (!table) {
    require(!table.error().message.empty());
    return 0;
  }
  for (const axle::runtime::TunedMachine& tuned : table->machines) {
    for (const axle::runtime::TunedLayer& layer : tuned.layers) {
      require(layer.shape.k > 0 && layer.shape.k <= axle::runtime::most_depth);
      require(axle::runtime::row_buckets[axle::runtime::bucket_of(layer.rows)] == layer.rows);
      require(layer.threads <= axle::runtime::ThreadPool::most_threads);
      require(layer.chunk == 0 || layer.chunk >= 65536);
    }
  }
  const std::string written = render_tuning(*table);
  const auto again = axle::runtime::parse_tuning(written, "fuzz");
  require(again.has_value());
  require(render_tuning(*again) == written);
  return 0;
}
