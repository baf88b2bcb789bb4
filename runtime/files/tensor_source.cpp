#include "runtime/files/tensor_source.h"

namespace axle::runtime {

Result<void> TensorSource::add(Tensor tensor) {
  if (!places_.emplace(tensor.name, tensors_.size()).second)
    return failure(AXLE_MALFORMED, "%s: tensor \"%s\" is there twice", where_.c_str(),
                   tensor.name.c_str());
  tensors_.push_back(std::move(tensor));
  return {};
}

const Tensor* TensorSource::find(std::string_view name) const {
  const auto place = places_.find(std::string(name));
  return place == places_.end() ? nullptr : &tensors_[place->second];
}

Result<const Tensor*> TensorSource::require(std::string_view name) const {
  const Tensor* const tensor = find(name);
  if (tensor == nullptr)
    return failure(AXLE_MALFORMED, "%s: tensor \"%s\" is missing", where_.c_str(),
                   std::string(name).c_str());
  return tensor;
}

}  // namespace axle::runtime
