// Safetensors files. Every tensor that is found is read whole, and what was read can be written and
// read again.
#include "runtime/files/safetensors.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "runtime/files/safetensors_layout.h"
#include "tests/fuzz/require.h"

namespace {

using namespace axle::runtime;
using axle::fuzz::require;

struct Model {
  TensorSource tensors{"fuzz"};
  SafetensorsMetadata metadata;
};

bool read(std::span<const std::byte> bytes, Model& model) {
  const Result<void> done =
      read_safetensors(ModelFile::in_memory(bytes, "fuzz"), model.tensors, model.metadata);
  if (!done) require(!done.error().message.empty());
  return done.has_value();
}

/// As the writer does it, in memory.
std::string written(const Model& model) {
  std::vector<TensorToWrite> tensors;
  for (const Tensor& tensor : model.tensors.tensors()) tensors.push_back(copy_of(tensor));
  const Result<SafetensorsLayout> layout = lay_out("fuzz", tensors, model.metadata);
  require(layout.has_value());
  std::string file = layout->head;
  file.resize(static_cast<std::size_t>(layout->bytes));
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    std::size_t done = 0;
    const auto put = [&](std::span<const std::byte> bytes) -> Result<void> {
      file.replace(layout->head.size() + static_cast<std::size_t>(layout->begins[i]) + done,
                   bytes.size(), reinterpret_cast<const char*>(bytes.data()), bytes.size());
      done += bytes.size();
      return {};
    };
    require(tensors[i].write(put).has_value());
    require(done == layout->sizes[i]);
  }
  return file;
}

std::vector<std::byte> bytes_of(const Tensor& tensor) {
  std::vector<std::byte> bytes(tensor.bytes);
  require(read_bytes(tensor, 0, bytes).has_value());
  return bytes;
}

void read_all(const TensorSource& source) {
  for (const Tensor& tensor : source.tensors()) {
    require(source.find(tensor.name) == &tensor);
    require(tensor_bytes(tensor.type, tensor.shape) == tensor.bytes);
    if (tensor.bytes == 0 || !row(tensor.type).is_float) continue;
    std::vector<float> values(tensor.rows() * tensor.columns());
    require(read_rows(tensor, 0, tensor.rows(), values.data()).has_value());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Model model;
  if (!read(std::as_bytes(std::span(data, size)), model)) return 0;
  read_all(model.tensors);
  const std::string again = written(model);
  Model second;
  require(read(std::as_bytes(std::span(again)), second));
  require(second.metadata == model.metadata);
  require(second.tensors.tensors().size() == model.tensors.tensors().size());
  for (const Tensor& tensor : model.tensors.tensors()) {
    const Tensor* const found = second.tensors.find(tensor.name);
    require(found != nullptr && found->type == tensor.type && found->shape == tensor.shape);
    require(bytes_of(*found) == bytes_of(tensor));
  }
  return 0;
}
