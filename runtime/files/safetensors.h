#pragma once
// Safetensors files (huggingface/safetensors, README "Format"): a JSON header, then the tensors
// without gaps.

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "runtime/files/model_file.h"
#include "runtime/files/tensor_source.h"
#include "runtime/result.h"

namespace axle::runtime {

/// "__metadata__": by convention "format" and, of our own, what a quantiser did.
using SafetensorsMetadata = std::map<std::string, std::string>;

/// Adds the tensors of a file, in the order of their places, to `to`, which keeps it, and its
/// metadata to `metadata` where the key is not there yet. Every offset is checked: tensors cover
/// what follows the header exactly.
[[nodiscard]] Result<void> read_safetensors(ModelFile file, TensorSource& to,
                                            SafetensorsMetadata& metadata);

/// One file.
class SafetensorsFile {
 public:
  [[nodiscard]] static Result<SafetensorsFile> open(const std::string& path);

  [[nodiscard]] const TensorSource& tensors() const { return tensors_; }
  [[nodiscard]] const SafetensorsMetadata& metadata() const { return metadata_; }

 private:
  explicit SafetensorsFile(const std::string& path) : tensors_(path) {}

  TensorSource tensors_;
  SafetensorsMetadata metadata_;
};

/// The tensors of a folder: model.safetensors or, where that is not there (the order of
/// transformers), model.safetensors.index.json and its shards.
class SafetensorsFolder {
 public:
  [[nodiscard]] static Result<SafetensorsFolder> open(const std::string& folder);

  [[nodiscard]] const TensorSource& tensors() const { return tensors_; }
  /// Of several shards: the value of the first, by the files' names, that has the key.
  [[nodiscard]] const SafetensorsMetadata& metadata() const { return metadata_; }

 private:
  explicit SafetensorsFolder(const std::string& folder) : tensors_(folder) {}

  [[nodiscard]] Result<void> open_shards(const std::string& folder, const std::string& index_path);

  TensorSource tensors_;
  SafetensorsMetadata metadata_;
};

}  // namespace axle::runtime
