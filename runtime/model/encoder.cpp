#include "runtime/model/encoder.h"

#include <cmath>

#include "runtime/model/description/required_tensors.h"

namespace axle::runtime {
namespace {

/// Tokens that are computed together: more would not make a layer faster.
constexpr std::size_t most_rows = 512;

std::vector<float> pool(const float* rows, std::size_t count, std::size_t width,
                        const Pooling& pooling) {
  std::vector<float> vector(width);
  const std::size_t used = pooling.kind == Pooling::Kind::first ? 1 : count;
  double squares = 0;
  for (std::size_t i = 0; i < width; ++i) {
    double sum = 0;
    for (std::size_t r = 0; r < used; ++r) sum += static_cast<double>(rows[r * width + i]);
    vector[i] = static_cast<float>(sum / static_cast<double>(used));
    squares += static_cast<double>(vector[i]) * static_cast<double>(vector[i]);
  }
  if (pooling.normalised && squares > 0) {
    const double length = std::sqrt(squares);
    for (float& value : vector) value = static_cast<float>(static_cast<double>(value) / length);
  }
  return vector;
}

}  // namespace

std::size_t Encoder::weight_bytes() const {
  std::size_t bytes = 0;
  for (const Layer& layer : layers_)
    bytes += layer.query_key_value.bytes() + layer.attention_output.bytes() + layer.up.bytes() +
             layer.down.bytes();
  if (score_head_) bytes += score_head_->bytes();
  return bytes;
}

std::vector<Linear*> Encoder::linears() const {
  std::vector<Linear*> all;
  for (const Layer& layer : layers_) {
    for (const Projection* one :
         {&layer.query_key_value, &layer.attention_output, &layer.up, &layer.down})
      all.push_back(one->linear());
  }
  std::erase(all, nullptr);
  return all;
}

Result<void> Encoder::check(const Input& text, const std::string& name) const {
  if (text.tokens.empty() || text.tokens.size() > shape_.context)
    return failure(AXLE_BAD_ARGUMENT, "%s: %s has %zu tokens; this model takes 1 to %zu",
                   where_.c_str(), name.c_str(), text.tokens.size(), shape_.context);
  if (text.second < text.tokens.size() && types_.size() < 2)
    return failure(AXLE_UNSUPPORTED,
                   "%s: %s has a second segment, for which the model has no embedding "
                   "(\"type_vocab_size\" of config.json is 1)",
                   where_.c_str(), name.c_str());
  return check_tokens(shape_, text.tokens, where_, name);
}

Result<void> Encoder::look_up(const Input& text, float* hidden) {
  const ModelSteps& step = steps();
  const std::size_t width = shape_.hidden;
  std::vector<float> position(width);
  for (std::size_t i = 0; i < text.tokens.size(); ++i, hidden += width) {
    Result<void> read =
        read_finite_rows(*words_, where_, static_cast<std::size_t>(text.tokens[i]), 1, hidden);
    if (read) read = read_finite_rows(*positions_, where_, i, 1, position.data());
    if (!read) return read;
    step.add(types_[i < text.second ? 0 : 1].data(), width, hidden);
    step.add(position.data(), width, hidden);
    step.layer_norm(hidden, embedding_norm_.weight.data(), embedding_norm_.bias.data(), width,
                    shape_.norm_epsilon, hidden);
  }
  return {};
}

void Encoder::normalise(const Norm& norm, std::size_t rows, float* hidden) {
  const ModelSteps& step = steps();
  const std::size_t width = shape_.hidden;
  engine_->share(rows, rows * width, [&](std::size_t r, std::size_t) noexcept {
    float* const row = hidden + r * width;
    step.layer_norm(row, norm.weight.data(), norm.bias.data(), width, shape_.norm_epsilon, row);
  });
}

void Encoder::attend(std::vector<Rows>& texts, const float* heads, float* mixed) {
  const ModelSteps& step = steps();
  const std::size_t depth = shape_.head_depth;
  const std::size_t width = 3 * shape_.query_width();
  const std::size_t per_text = shape_.heads;
  std::size_t operations = 0;
  for (const Rows& text : texts) operations += text.count * text.count * shape_.query_width();
  engine_->share(
      texts.size() * per_text, operations, [&](std::size_t item, std::size_t thread) noexcept {
        Rows& text = texts[item / per_text];
        const std::size_t head = item % per_text;
        const float* const first = heads + text.first * width;
        for (std::size_t r = 0; r < text.count; ++r) {
          const float* const keys = first + r * width + shape_.query_width();
          text.sequence.store_key(0, head, r, keys + head * depth);
          text.sequence.store_value(0, head, r, keys + shape_.query_width() + head * depth);
        }
        for (std::size_t r = 0; r < text.count; r += Attention::most_rows) {
          const std::size_t left = text.count - r;
          attention_.run(step,
                         {.sequence = &text.sequence,
                          .layer = 0,
                          .position = r,
                          .rows = left < Attention::most_rows ? left : Attention::most_rows,
                          .visible = text.count,
                          .queries = first + r * width,
                          .query_floats = width,
                          .out = mixed + (text.first + r) * shape_.query_width(),
                          .out_floats = shape_.query_width()},
                         head, thread);
        }
      });
}

Result<void> Encoder::run_layer(Layer& layer, std::vector<Rows>& texts, std::size_t rows,
                                float* hidden) {
  Result<void> done = layer.query_key_value.forward({.x = hidden}, rows, {.y = heads_.data()});
  if (!done) return done;
  attend(texts, heads_.data(), mixed_.data());
  done = layer.attention_output.forward({.x = mixed_.data()}, rows, {.y = hidden, .added = true});
  if (!done) return done;
  normalise(layer.attention_norm, rows, hidden);
  done = layer.up.forward({.x = hidden}, rows, {.y = raised_.data()});
  if (!done) return done;
  done = layer.down.forward({.x = raised_.data(), .kind = RowSource::Kind::gelu}, rows,
                            {.y = hidden, .added = true});
  if (!done) return done;
  normalise(layer.output_norm, rows, hidden);
  return {};
}

Result<void> Encoder::run(std::vector<Rows>& texts, std::size_t rows, float* hidden) {
  std::size_t longest = 0;
  for (Rows& text : texts) {
    const Result<void> reserved = text.sequence.reserve(text.count);
    if (!reserved) return reserved;
    longest = text.count > longest ? text.count : longest;
  }
  const Result<void> reserved =
      attention_.reserve(static_cast<std::size_t>(engine_->pool().threads()), longest);
  if (!reserved) return reserved;
  heads_.resize(rows * 3 * shape_.query_width());
  mixed_.resize(rows * shape_.query_width());
  raised_.resize(rows * shape_.feed_forward);
  for (Layer& layer : layers_) {
    const Result<void> done = run_layer(layer, texts, rows, hidden);
    if (!done) return done;
  }
  return {};
}

Result<void> Encoder::read(std::span<const Input> texts, const char* kind,
                           const std::function<void(const float*, std::size_t)>& use) {
  PagePool pages({1, shape_.heads, shape_.head_depth, CacheForm::float32});
  std::vector<float> hidden;
  for (std::size_t next = 0; next < texts.size();) {
    std::vector<Rows> together;
    std::size_t rows = 0;
    hidden.clear();
    for (; next < texts.size(); ++next) {
      const Input& text = texts[next];
      const std::string name =
          texts.size() == 1 ? std::string("the ") + kind : kind + (" " + std::to_string(next));
      const Result<void> known = check(text, name);
      if (!known) return known;
      const std::size_t count = text.tokens.size();
      if (!together.empty() && rows + count > most_rows) break;
      together.push_back({rows, count, Sequence(pages)});
      hidden.resize((rows + count) * shape_.hidden);
      const Result<void> found = look_up(text, hidden.data() + rows * shape_.hidden);
      if (!found) return found;
      rows += count;
    }
    const Result<void> done = run(together, rows, hidden.data());
    if (!done) return done;
    for (const Rows& text : together) use(hidden.data() + text.first * shape_.hidden, text.count);
  }
  return {};
}

Result<void> Encoder::check_finite(std::span<const float> values) const {
  for (const float value : values) {
    if (!std::isfinite(value))
      return failure(AXLE_MALFORMED,
                     "%s: the model's numbers overflow: some of its weights are far too large; "
                     "fetch or convert the model again",
                     where_.c_str());
  }
  return {};
}

Result<std::vector<std::vector<float>>> Encoder::embed(
    std::span<const std::vector<std::int32_t>> texts, const Pooling& pooling) {
  std::vector<Input> inputs;
  for (const std::vector<std::int32_t>& tokens : texts) inputs.push_back({tokens, tokens.size()});
  std::vector<std::vector<float>> vectors;
  Result<void> done = read(inputs, "text", [&](const float* rows, std::size_t count) {
    vectors.push_back(pool(rows, count, shape_.hidden, pooling));
  });
  for (const std::vector<float>& vector : vectors) {
    if (done) done = check_finite(vector);
  }
  if (!done) return std::unexpected(done.error());
  return vectors;
}

Result<std::vector<float>> Encoder::score(std::span<const TokenPair> pairs) {
  if (!score_head_)
    return failure(AXLE_UNSUPPORTED, "%s: the model is no reranker: it makes vectors of texts",
                   where_.c_str());
  std::vector<Input> inputs;
  for (const TokenPair& pair : pairs) inputs.push_back({pair.tokens, pair.second});
  std::vector<float> scores;
  Result<void> done = read(inputs, "pair", [&](const float* rows, std::size_t) {
    scores.push_back(score_head_->score({rows, shape_.hidden}));
  });
  if (done) done = check_finite(scores);
  if (!done) return std::unexpected(done.error());
  return scores;
}

}  // namespace axle::runtime
