#include "runtime/files/gguf_types.h"

#include <algorithm>
#include <iterator>

namespace axle::runtime {
namespace {

struct GgmlType {
  std::uint32_t number;
  const char* name;
  std::optional<TensorType> type = std::nullopt;
};

/// enum ggml_type of ggml.h.
constexpr GgmlType ggml_types[] = {{0, "F32", TensorType::float32},
                                   {1, "F16", TensorType::float16},
                                   {2, "Q4_0", TensorType::q4_0},
                                   {3, "Q4_1", TensorType::q4_1},
                                   {4, "Q4_2"},
                                   {5, "Q4_3"},
                                   {6, "Q5_0", TensorType::q5_0},
                                   {7, "Q5_1"},
                                   {8, "Q8_0", TensorType::q8_0},
                                   {9, "Q8_1"},
                                   {10, "Q2_K"},
                                   {11, "Q3_K"},
                                   {12, "Q4_K", TensorType::q4_k},
                                   {13, "Q5_K", TensorType::q5_k},
                                   {14, "Q6_K", TensorType::q6_k},
                                   {15, "Q8_K"},
                                   {16, "IQ2_XXS"},
                                   {17, "IQ2_XS"},
                                   {18, "IQ3_XXS"},
                                   {19, "IQ1_S"},
                                   {20, "IQ4_NL"},
                                   {21, "IQ3_S"},
                                   {22, "IQ2_S"},
                                   {23, "IQ4_XS"},
                                   {24, "I8"},
                                   {25, "I16"},
                                   {26, "I32"},
                                   {27, "I64"},
                                   {28, "F64", TensorType::float64},
                                   {29, "IQ1_M"},
                                   {30, "BF16", TensorType::bfloat16},
                                   {34, "TQ1_0"},
                                   {35, "TQ2_0"},
                                   {39, "MXFP4"},
                                   {40, "NVFP4"},
                                   {41, "Q1_0"}};

const GgmlType* find_type(std::uint32_t number) {
  const auto* const found = std::find_if(std::begin(ggml_types), std::end(ggml_types),
                                         [&](const GgmlType& one) { return one.number == number; });
  return found == std::end(ggml_types) ? nullptr : found;
}

}  // namespace

std::size_t gguf_value_bytes(std::uint32_t type) {
  switch (type) {
    case gguf_value::uint8:
    case gguf_value::int8:
    case gguf_value::boolean:
      return 1;
    case gguf_value::uint16:
    case gguf_value::int16:
      return 2;
    case gguf_value::uint32:
    case gguf_value::int32:
    case gguf_value::float32:
      return 4;
    case gguf_value::uint64:
    case gguf_value::int64:
    case gguf_value::float64:
      return 8;
    default:
      return 0;
  }
}

bool is_gguf_integer(std::uint32_t type) {
  return gguf_value_bytes(type) > 0 && type != gguf_value::float32 && type != gguf_value::float64 &&
         type != gguf_value::boolean;
}

std::int64_t load_gguf_integer(std::uint32_t type, const std::byte* from) {
  switch (type) {
    case gguf_value::uint8:
      return load_unaligned<std::uint8_t>(from);
    case gguf_value::int8:
      return load_unaligned<std::int8_t>(from);
    case gguf_value::uint16:
      return load_unaligned<std::uint16_t>(from);
    case gguf_value::int16:
      return load_unaligned<std::int16_t>(from);
    case gguf_value::uint32:
      return load_unaligned<std::uint32_t>(from);
    case gguf_value::int32:
      return load_unaligned<std::int32_t>(from);
    default:
      return load_unaligned<std::int64_t>(from);
  }
}

std::optional<TensorType> tensor_type_of_ggml(std::uint32_t number) {
  const GgmlType* const found = find_type(number);
  return found == nullptr ? std::nullopt : found->type;
}

const char* ggml_type_name(std::uint32_t number) {
  const GgmlType* const found = find_type(number);
  return found == nullptr ? "?" : found->name;
}

}  // namespace axle::runtime
