// A folder as `model quantize` writes it: config.json, a zero byte, the safetensors file. What is
// loaded must run, and what is refused must name the file.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "runtime/files/safetensors.h"
#include "runtime/model/encoder.h"
#include "runtime/model/layers/stored_rows.h"
#include "tests/fuzz/require.h"

namespace {

using namespace axle::runtime;
using axle::fuzz::require;

Engine& engine() {
  static Engine one(1);
  static const bool chosen = [] {
    axle_error error{};
    return one.choose_kernels(nullptr, &error) == AXLE_OK;
  }();
  require(chosen);
  return one;
}

void refused(const Failure& failure) {
  require(failure.status != AXLE_OK);
  require(failure.message.find("fuzz") != std::string::npos);
}

void run_decoder(const ModelShape& shape, const TensorSource& tensors, const ModelMode& mode) {
  Result<Decoder> decoder = Decoder::load(engine(), shape, tensors, mode, {});
  if (!decoder) return refused(decoder.error());
  PagePool pool(decoder->cache_shape(CacheForm::float16));
  Sequence sequence(pool);
  std::vector<float> logits(shape.vocabulary);
  const std::int32_t token = static_cast<std::int32_t>(shape.vocabulary - 1);
  const Continuation one{&sequence, {&token, 1}, logits.data()};
  const Result<void> done = decoder->forward({&one, 1});
  if (!done) return refused(done.error());
  require(sequence.length() == 1);
}

void run_encoder(const ModelShape& shape, const TensorSource& tensors, const ModelMode& mode) {
  Result<Encoder> encoder = Encoder::load(engine(), shape, tensors, mode, {});
  if (!encoder) return refused(encoder.error());
  const std::vector<std::vector<std::int32_t>> texts{{0}};
  const auto vectors = encoder->embed(texts, {});
  if (!vectors) return refused(vectors.error());
  for (const float value : vectors->front()) require(std::isfinite(value));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t end = input.find('\0');
  if (end == std::string_view::npos) return 0;
  const Result<ModelShape> shape = parse_config(input.substr(0, end), "fuzz");
  if (!shape || !shape->stored) return 0;
  TensorSource tensors("fuzz");
  SafetensorsMetadata metadata;
  const auto bytes = std::as_bytes(std::span(input.substr(end + 1)));
  if (!read_safetensors(ModelFile::in_memory(bytes, "fuzz"), tensors, metadata)) return 0;
  const Result<ModelMode> mode = choose_mode(*shape, "", "fuzz");
  if (!mode) {
    refused(mode.error());
  } else if (shape->architecture == Architecture::decoder) {
    run_decoder(*shape, tensors, *mode);
  } else {
    run_encoder(*shape, tensors, *mode);
  }
  return 0;
}
