// A layer of a container image: compressed or not, a tar archive, over another one.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "doctor/audit/image/image_reading.h"
#include "doctor/audit/image/layer_reading.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::shared_ptr<wheel::ByteSource> source = wheel::memory_source(bytes);
  std::vector<doctor::LayerContent> layers;
  for (const std::size_t begin : {std::size_t{0}, size / 1024 * 512}) {
    auto layer = doctor::read_layer({source, begin, size - begin}, "fuzz", {}, 1);
    if (layer) layers.push_back(std::move(*layer));
  }
  doctor::Audited image;
  doctor::lay_over_each_other(std::move(layers), image);
  return 0;
}
