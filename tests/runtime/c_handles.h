#pragma once
// What the C interface makes, destroyed when it goes out of scope.

#include <memory>

#include "runtime/axle_runtime.h"

namespace axle::runtime::testing {

template <auto destroy>
struct Destroy {
  template <class T>
  void operator()(T* made) const {
    destroy(made);
  }
};

using RuntimePtr = std::unique_ptr<axle_runtime, Destroy<axle_runtime_destroy>>;
using LinearPtr = std::unique_ptr<axle_linear, Destroy<axle_linear_destroy>>;
using ModelPtr = std::unique_ptr<axle_model, Destroy<axle_model_destroy>>;
using GenerationPtr = std::unique_ptr<axle_generation, Destroy<axle_generation_destroy>>;

}  // namespace axle::runtime::testing
