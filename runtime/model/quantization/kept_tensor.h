#pragma once
// Tensors that a quantised folder keeps: embeddings, and whatever else is no linear layer.

#include <string>

#include "runtime/files/safetensors_writer.h"
#include "runtime/files/tensor.h"
#include "runtime/result.h"

namespace axle::runtime {

/// What safetensors can hold is written as it is. ggml's blocks become float16: its step is at most
/// an eighth of what the blocks themselves round by; float32 where a number is beyond 65504.
class KeptTensor {
 public:
  /// Reads the tensor, which must stay, once. AXLE_MALFORMED, with `where` and the tensor's name in
  /// the file, if a number is not finite. `name` is what it is called in the folder.
  [[nodiscard]] static Result<KeptTensor> plan(std::string name, const Tensor& tensor,
                                               const std::string& where);

  /// Of what `this` must outlive.
  [[nodiscard]] TensorToWrite to_write() const;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] TensorType type() const { return type_; }
  [[nodiscard]] bool is_converted() const { return type_ != tensor_->type; }
  /// Sums of the squares of what rounding changes, and of the numbers.
  [[nodiscard]] double error() const { return error_; }
  [[nodiscard]] double size() const { return size_; }

 private:
  KeptTensor(std::string name, const Tensor& tensor)
      : name_(std::move(name)), tensor_(&tensor), type_(tensor.type) {}

  [[nodiscard]] Result<void> write_halves(const PutBytes& put) const;
  [[nodiscard]] Result<void> write_floats(const PutBytes& put) const;

  std::string name_;
  const Tensor* tensor_;
  TensorType type_;
  double error_ = 0;
  double size_ = 0;
};

}  // namespace axle::runtime
