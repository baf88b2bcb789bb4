// GGUF files. Every tensor that is found is read whole, and every value of the metadata in every
// way.
#include "runtime/files/gguf.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/fuzz/require.h"

namespace {

using namespace axle::runtime;
using axle::fuzz::require;

void read_all(const TensorSource& source) {
  for (const Tensor& tensor : source.tensors()) {
    require(source.find(tensor.name) == &tensor);
    require(tensor_bytes(tensor.type, tensor.shape) == tensor.bytes);
    if (tensor.bytes == 0) continue;
    std::vector<float> values(tensor.rows() * tensor.columns());
    require(read_rows(tensor, 0, tensor.rows(), values.data()).has_value());
  }
}

void read_value(const GgufFile& file, const std::string& key) {
  const int kinds = static_cast<int>(file.number(key).has_value()) +
                    static_cast<int>(file.flag(key).has_value()) +
                    static_cast<int>(file.text(key).has_value());
  require(kinds <= 1);
  if (file.count(key)) require(file.number(key).has_value());
  std::size_t bytes = 0;
  for (const std::string_view text : file.texts(key).value_or(std::vector<std::string_view>())) {
    for (const char byte : text) bytes += static_cast<unsigned char>(byte) > 0 ? 1 : 0;
  }
  const bool texts = file.texts(key).has_value();
  const bool integers = file.integers(key).has_value();
  require(!(texts && integers) && (bytes == 0 || texts));
  if (file.floats(key)) require(!texts && !integers);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Result<GgufFile> file =
      GgufFile::read(ModelFile::in_memory(std::as_bytes(std::span(data, size)), "fuzz"));
  if (!file) {
    require(!file.error().message.empty());
    return 0;
  }
  read_all(file->tensors());
  // Keys of the seeds, and what mutation makes of them.
  for (const char* key : {"a", "b", "c", "d", "e", "k", "general.alignment"}) {
    if (file->has(key)) read_value(*file, key);
  }
  return 0;
}
