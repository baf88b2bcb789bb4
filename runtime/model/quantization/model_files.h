#pragma once
// The small files of a quantised folder: config.json, tokenizer, chat template, pooling.

#include <string>

#include "runtime/model/model.h"
#include "runtime/model/quantization/scheme.h"
#include "runtime/result.h"

namespace axle::runtime {

/// Into `folder`, which is there. Of a folder: its own files, copied, config.json with
/// "quantization_config". Of a GGUF file: written from its metadata. `path` is where `model` was
/// opened.
[[nodiscard]] Result<void> write_model_files(const Model& model, const std::string& path,
                                             const QuantizationScheme& scheme,
                                             const std::string& folder);

}  // namespace axle::runtime
