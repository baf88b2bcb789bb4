#pragma once
// Safetensors files (huggingface/safetensors, README "Format"): a JSON header, then the tensors
// without gaps.

#include <string>
#include <vector>

#include "runtime/files/mapped_file.h"
#include "runtime/files/tensor_source.h"
#include "runtime/result.h"

namespace axle::runtime {

/// Adds the tensors of a mapped file, in the order of their places, to `to`; `path` names the file
/// in errors. Every offset is checked: tensors cover what follows the header exactly.
[[nodiscard]] Result<void> read_safetensors(const MappedFile& file, const std::string& path,
                                            TensorSource& to);

/// The tensors of a folder: model.safetensors, or model.safetensors.index.json and its shards.
class SafetensorsFolder {
 public:
  [[nodiscard]] static Result<SafetensorsFolder> open(const std::string& folder);

  [[nodiscard]] const TensorSource& tensors() const { return tensors_; }

 private:
  explicit SafetensorsFolder(const std::string& folder) : tensors_(folder) {}

  std::vector<MappedFile> files_;
  TensorSource tensors_;
};

}  // namespace axle::runtime
