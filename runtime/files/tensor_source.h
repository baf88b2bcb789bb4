#pragma once
// The tensors of one model by name, whichever files they are in.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/files/model_file.h"
#include "runtime/files/tensor.h"
#include "runtime/result.h"

namespace axle::runtime {

class TensorSource {
 public:
  /// `where` names the file or folder in errors.
  explicit TensorSource(std::string where) : where_(std::move(where)) {}

  /// Keeps a file open, for tensors that lie in it.
  void keep(std::unique_ptr<const ModelFile> file) { files_.push_back(std::move(file)); }

  /// AXLE_MALFORMED if there is one of that name.
  [[nodiscard]] Result<void> add(Tensor tensor);

  [[nodiscard]] const Tensor* find(std::string_view name) const;
  /// AXLE_MALFORMED with the name if it is not there.
  [[nodiscard]] Result<const Tensor*> require(std::string_view name) const;

  /// In the order of the file, or of the files' names.
  [[nodiscard]] const std::vector<Tensor>& tensors() const { return tensors_; }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::vector<std::unique_ptr<const ModelFile>> files_;
  std::vector<Tensor> tensors_;
  std::unordered_map<std::string, std::size_t> places_;
};

}  // namespace axle::runtime
