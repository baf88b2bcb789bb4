#pragma once
// How far the weights of a model lie from those before quantization.

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "runtime/model/quantization/quantize.h"

namespace axle::cli {

/// Relative root-mean-square errors: of all weights, by kind of layer, of the worst one.
[[nodiscard]] std::string loss_text(const runtime::QuantizationReport& report);
[[nodiscard]] nlohmann::ordered_json loss_json(const runtime::QuantizationReport& report);

}  // namespace axle::cli
