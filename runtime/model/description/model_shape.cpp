#include <cmath>

#include "runtime/model/description/checked_shape.h"

namespace axle::runtime {
namespace {

constexpr std::size_t most_of_anything = std::size_t{1} << 20U;
constexpr std::size_t most_layers = 1024;
constexpr std::size_t lanes = 16;

struct Limit {
  const char* name;
  std::size_t ModelShape::* member;
  std::size_t most;
};

constexpr Limit limits[] = {
    {"hidden size", &ModelShape::hidden, most_of_anything / 8},
    {"number of layers", &ModelShape::layers, most_layers},
    {"number of attention heads", &ModelShape::heads, most_of_anything / 64},
    {"number of key-value heads", &ModelShape::key_heads, most_of_anything / 64},
    {"depth of a head", &ModelShape::head_depth, 4096},
    {"feed-forward size", &ModelShape::feed_forward, most_of_anything / 8},
    {"vocabulary size", &ModelShape::vocabulary, 8 * most_of_anything},
    {"context length", &ModelShape::context, most_of_anything},  // as far as angles are exact
    {"number of segments", &ModelShape::segments, most_of_anything},
};

}  // namespace

Result<void> check_tokens(const ModelShape& shape, std::span<const std::int32_t> tokens,
                          const std::string& where, const std::string& text) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] < 0 || static_cast<std::size_t>(tokens[i]) >= shape.vocabulary)
      return failure(AXLE_BAD_ARGUMENT,
                     "%s: token %d, number %zu of %s, is not in the model's vocabulary of %zu; the "
                     "tokens must come from the tokenizer that belongs to the weights",
                     where.c_str(), tokens[i], i + 1, text.c_str(), shape.vocabulary);
  }
  return {};
}

Result<ModelShape> checked(ModelShape shape, const std::string& where) {
  for (const Limit& limit : limits) {
    const std::size_t value = shape.*limit.member;
    if (value == 0 || value > limit.most)
      return failure(AXLE_UNSUPPORTED, "%s: the %s is %zu; it must be 1 to %zu", where.c_str(),
                     limit.name, value, limit.most);
  }
  if (shape.heads % shape.key_heads != 0)
    return failure(AXLE_MALFORMED,
                   "%s: %zu attention heads cannot share %zu key-value heads evenly", where.c_str(),
                   shape.heads, shape.key_heads);
  const std::pair<const char*, std::size_t> in_lanes[] = {
      {"hidden size", shape.hidden},
      {"depth of a head", shape.head_depth},
      {"feed-forward size", shape.feed_forward}};
  for (const auto& [name, value] : in_lanes) {
    if (value % lanes != 0)
      return failure(AXLE_UNSUPPORTED, "%s: the %s is %zu; the kernels need a multiple of %zu",
                     where.c_str(), name, value, lanes);
  }
  const double epsilon = static_cast<double>(shape.norm_epsilon);
  const bool is_small = epsilon >= 0 && epsilon < 1;  // never so for NaN
  if (!is_small)
    return failure(AXLE_MALFORMED, "%s: the epsilon of the norms is %g; it must be 0 to 1",
                   where.c_str(), epsilon);
  const RotaryShape& rotary = shape.rotary;
  const bool sane = rotary.theta >= 1 && rotary.theta < 1e12 && rotary.factor > 0 &&
                    rotary.factor < 1e6 && rotary.low_frequency_factor > 0 &&
                    rotary.high_frequency_factor > rotary.low_frequency_factor &&
                    rotary.original_context >= 1 && rotary.original_context < 1e9;
  if (!sane)
    return failure(AXLE_MALFORMED, "%s: the numbers of the rotary embedding make no sense",
                   where.c_str());
  return shape;
}

}  // namespace axle::runtime
