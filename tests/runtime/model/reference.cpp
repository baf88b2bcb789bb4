#include "tests/runtime/model/reference.h"

#include <algorithm>
#include <cmath>

namespace axle::runtime {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;

class Reference {
 public:
  explicit Reference(TinyModel& model) : model_(model), shape_(model.shape) {}

  Row row_of(const std::string& name, std::size_t row, std::size_t width) const {
    const std::vector<float>& all = model_.numbers_of(name);
    Row result(width);
    for (std::size_t i = 0; i < width; ++i) result[i] = static_cast<double>(all[row * width + i]);
    return result;
  }

  bool has(const std::string& name) const { return model_.tensors.find(name) != nullptr; }

  Row linear(const std::string& name, const Row& x) const {
    const std::size_t outputs = model_.tensors.find(name + ".weight")->shape[0];
    Row y(outputs, 0.0);
    for (std::size_t o = 0; o < outputs; ++o) {
      const Row weights = row_of(name + ".weight", o, x.size());
      for (std::size_t i = 0; i < x.size(); ++i) y[o] += weights[i] * x[i];
    }
    if (has(name + ".bias")) {
      const Row bias = row_of(name + ".bias", 0, outputs);
      for (std::size_t o = 0; o < outputs; ++o) y[o] += bias[o];
    }
    return y;
  }

  Row rms_norm(const std::string& name, const Row& x) const {
    const Row weight = row_of(name + ".weight", 0, x.size());
    double squares = 0;
    for (const double v : x) squares += v * v;
    Row y = x;
    for (std::size_t i = 0; i < x.size(); ++i)
      y[i] *= weight[i] / std::sqrt(squares / static_cast<double>(x.size()) +
                                    static_cast<double>(shape_.norm_epsilon));
    return y;
  }

  Row layer_norm(const std::string& name, const Row& x) const {
    const Row weight = row_of(name + ".weight", 0, x.size());
    const Row bias = row_of(name + ".bias", 0, x.size());
    const double n = static_cast<double>(x.size());
    double mean = 0;
    for (const double v : x) mean += v / n;
    double variance = 0;
    for (const double v : x) variance += (v - mean) * (v - mean) / n;
    Row y = x;
    for (std::size_t i = 0; i < x.size(); ++i)
      y[i] = (x[i] - mean) / std::sqrt(variance) * weight[i] + bias[i];
    return y;
  }

  /// The head's slice, turned by its position.
  Row rotated(Row head, std::size_t position) const {
    const std::size_t half = head.size() / 2;
    const Row x = head;
    for (std::size_t i = 0; i < half; ++i) {
      const double angle =
          static_cast<double>(position) /
          std::pow(shape_.rotary.theta, static_cast<double>(i) / static_cast<double>(half));
      head[i] = x[i] * std::cos(angle) - x[half + i] * std::sin(angle);
      head[half + i] = x[half + i] * std::cos(angle) + x[i] * std::sin(angle);
    }
    return head;
  }

  static Row slice(const Row& x, std::size_t index, std::size_t width) {
    const auto begin = x.begin() + static_cast<std::ptrdiff_t>(index * width);
    return {begin, begin + static_cast<std::ptrdiff_t>(width)};
  }

  /// One head's values by the softmax of its scores.
  static Row attend(const Row& query, const Rows& keys, const Rows& values) {
    Row scores;
    for (const Row& key : keys) {
      double dot = 0;
      for (std::size_t i = 0; i < key.size(); ++i) dot += query[i] * key[i];
      scores.push_back(dot / std::sqrt(static_cast<double>(key.size())));
    }
    const double most = *std::max_element(scores.begin(), scores.end());
    double total = 0;
    for (double& score : scores) total += score = std::exp(score - most);
    Row mixed(query.size(), 0.0);
    for (std::size_t p = 0; p < values.size(); ++p) {
      for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i] += scores[p] / total * values[p][i];
    }
    return mixed;
  }

  static void add(const Row& x, Row& y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += x[i];
  }

 protected:
  TinyModel& model_;
  const ModelShape& shape_;
};

class Decoding : Reference {
 public:
  using Reference::Reference;

  Row logits(const std::vector<std::int32_t>& tokens) {
    Rows hidden;
    for (const std::int32_t token : tokens)
      hidden.push_back(
          row_of("model.embed_tokens.weight", static_cast<std::size_t>(token), shape_.hidden));
    for (std::size_t layer = 0; layer < shape_.layers; ++layer) run(layer, hidden);
    const Row last = rms_norm("model.norm", hidden.back());
    return linear(shape_.tied_embeddings ? "model.embed_tokens" : "lm_head", last);
  }

 private:
  void run(std::size_t index, Rows& hidden) {
    const std::string layer = "model.layers." + std::to_string(index) + ".";
    const std::size_t depth = shape_.head_depth;
    std::vector<Rows> keys(shape_.key_heads);
    std::vector<Rows> values(shape_.key_heads);
    for (std::size_t t = 0; t < hidden.size(); ++t) {
      const Row x = rms_norm(layer + "input_layernorm", hidden[t]);
      const Row k = linear(layer + "self_attn.k_proj", x);
      const Row v = linear(layer + "self_attn.v_proj", x);
      for (std::size_t h = 0; h < shape_.key_heads; ++h) {
        keys[h].push_back(rotated(normed(layer + "self_attn.k_norm", slice(k, h, depth)), t));
        values[h].push_back(slice(v, h, depth));
      }
      const Row q = linear(layer + "self_attn.q_proj", x);
      Row mixed;
      for (std::size_t h = 0; h < shape_.heads; ++h) {
        const Row query = rotated(normed(layer + "self_attn.q_norm", slice(q, h, depth)), t);
        const std::size_t shared = h / (shape_.heads / shape_.key_heads);
        const Row head = attend(query, keys[shared], values[shared]);
        mixed.insert(mixed.end(), head.begin(), head.end());
      }
      // Later tokens of this layer read its input, which is no longer needed for this one.
      Row y = hidden[t];
      add(linear(layer + "self_attn.o_proj", mixed), y);
      const Row z = rms_norm(layer + "post_attention_layernorm", y);
      Row gate = linear(layer + "mlp.gate_proj", z);
      const Row up = linear(layer + "mlp.up_proj", z);
      for (std::size_t i = 0; i < gate.size(); ++i) gate[i] *= up[i] / (1 + std::exp(-gate[i]));
      add(linear(layer + "mlp.down_proj", gate), y);
      hidden[t] = y;
    }
  }

  Row normed(const std::string& name, Row head) const {
    return has(name + ".weight") ? rms_norm(name, head) : head;
  }
};

class Encoding : Reference {
 public:
  using Reference::Reference;

  Rows vectors(const std::vector<std::int32_t>& tokens) {
    Rows hidden;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      Row x = row_of("embeddings.word_embeddings.weight", static_cast<std::size_t>(tokens[t]),
                     shape_.hidden);
      add(row_of("embeddings.position_embeddings.weight", t, shape_.hidden), x);
      add(row_of("embeddings.token_type_embeddings.weight", 0, shape_.hidden), x);
      hidden.push_back(layer_norm("embeddings.LayerNorm", x));
    }
    for (std::size_t i = 0; i < shape_.layers; ++i)
      run("encoder.layer." + std::to_string(i) + ".", hidden);
    return hidden;
  }

 private:
  void run(const std::string& layer, Rows& hidden) {
    const std::string self = layer + "attention.self.";
    const Rows input = hidden;
    for (std::size_t t = 0; t < input.size(); ++t) {
      const Row q = linear(self + "query", input[t]);
      Row mixed;
      for (std::size_t h = 0; h < shape_.heads; ++h) {
        Rows keys;
        Rows values;
        for (const Row& x : input) {
          keys.push_back(slice(linear(self + "key", x), h, shape_.head_depth));
          values.push_back(slice(linear(self + "value", x), h, shape_.head_depth));
        }
        const Row head = attend(slice(q, h, shape_.head_depth), keys, values);
        mixed.insert(mixed.end(), head.begin(), head.end());
      }
      Row y = linear(layer + "attention.output.dense", mixed);
      add(input[t], y);
      y = layer_norm(layer + "attention.output.LayerNorm", y);
      Row raised = linear(layer + "intermediate.dense", y);
      for (double& v : raised) v *= (1 + std::erf(v / std::sqrt(2.0))) / 2;
      Row z = linear(layer + "output.dense", raised);
      add(y, z);
      hidden[t] = layer_norm(layer + "output.LayerNorm", z);
    }
  }
};

}  // namespace

std::vector<double> reference_logits(TinyModel& model, const std::vector<std::int32_t>& tokens) {
  return Decoding(model).logits(tokens);
}

std::vector<std::vector<double>> reference_hidden(TinyModel& model,
                                                  const std::vector<std::int32_t>& tokens) {
  return Encoding(model).vectors(tokens);
}

}  // namespace axle::runtime
