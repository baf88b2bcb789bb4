#include "runtime/model/decoder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "runtime/model/description/required_tensors.h"

namespace axle::runtime {

/// What a call works on, one row a token. Carved from one memory that is kept.
struct Decoder::Buffers {
  float* hidden;   ///< [rows][hidden], the stream that layers add to
  float* cosines;  ///< [rows][head_depth / 2]
  float* sines;
  // At different times in the same place: `heads` and `mixed`, `gate_up`, `logits`.
  float* heads;     ///< [rows][queries, keys, values]
  float* mixed;     ///< [rows][query_width]
  float* gate_up;   ///< [fed][2 * feed_forward]
  float* logits;    ///< [rows that want them][vocabulary], unless they lie together
  std::size_t fed;  ///< rows that go through gate_up and down together

  /// `base` null: only counts.
  Buffers(float* base, const ModelShape& shape, std::size_t rows, std::size_t fed_together,
          std::size_t wanted)
      : fed(fed_together), count(0) {
    const auto take = [&](std::size_t floats) {
      float* const at = base == nullptr ? nullptr : base + count;
      count += (floats + 15) / 16 * 16;
      return at;
    };
    hidden = take(rows * shape.hidden);
    cosines = take(rows * shape.head_depth / 2);
    sines = take(rows * shape.head_depth / 2);
    const std::size_t shared = count;
    heads = take(rows * (shape.query_width() + 2 * shape.key_width()));
    mixed = take(rows * shape.query_width());
    const std::size_t attention_end = std::exchange(count, shared);
    gate_up = take(fed * 2 * shape.feed_forward);
    const std::size_t feed_forward_end = std::exchange(count, shared);
    logits = take(wanted * shape.vocabulary);
    count = std::max({count, attention_end, feed_forward_end});
  }
  std::size_t count;
};

CacheShape Decoder::cache_shape(CacheForm form) const {
  return {shape_.layers, shape_.key_heads, shape_.head_depth, form};
}

std::size_t Decoder::weight_bytes() const {
  std::size_t bytes = output_.front().bytes();
  for (const Layer& layer : layers_)
    bytes += layer.query_key_value.bytes() + layer.attention_output.bytes() +
             layer.gate_up.bytes() + layer.down.bytes();
  return bytes;
}

std::vector<Linear*> Decoder::linears() const {
  std::vector<Linear*> all;
  for (const Layer& layer : layers_) {
    for (const Projection* one :
         {&layer.query_key_value, &layer.attention_output, &layer.gate_up, &layer.down})
      all.push_back(one->linear());
  }
  all.push_back(output_.front().linear());
  std::erase(all, nullptr);
  return all;
}

Result<void> Decoder::take_rows(std::span<const Continuation> continuations) {
  rows_.clear();
  blocks_.clear();
  std::size_t positions = 0;
  for (const Continuation& one : continuations) {
    const std::size_t start = one.sequence->length();
    const Result<void> reserved = one.sequence->reserve(start + one.tokens.size());
    if (!reserved) return reserved;
    positions = std::max(positions, start + one.tokens.size());
    for (std::size_t i = 0; i < one.tokens.size(); ++i) {
      if (i % Attention::most_rows == 0)
        blocks_.push_back(
            {rows_.size(), std::min(Attention::most_rows, one.tokens.size() - i), rows_.size()});
      rows_.push_back({one.sequence, start + i, one.tokens[i]});
    }
  }
  return attention_.reserve(static_cast<std::size_t>(engine_->pool().threads()), positions);
}

Result<void> Decoder::forward(std::span<const Continuation> continuations) {
  const Result<void> taken = take_rows(continuations);
  if (!taken) return taken;
  float* const together = logits_together(continuations);
  std::size_t wanted = 0;
  for (const Continuation& one : continuations)
    wanted += one.logits != nullptr && together == nullptr ? one.wanted : 0;
  Layer& any = layers_.front();
  // With 512 rows a Llama of a billion int4 weights peaked at 1.11 times its weights and cache.
  constexpr std::size_t most_fed = 256;
  const std::size_t fed = std::min(
      most_fed, std::max(any.gate_up.chunk_rows(rows_.size()), any.down.chunk_rows(rows_.size())));
  const std::size_t bytes =
      Buffers(nullptr, shape_, rows_.size(), fed, wanted).count * sizeof(float);
  memory_.grow_to(bytes);
  if (memory_.data() == nullptr)
    return failure(AXLE_NO_MEMORY, "%s: no memory for %zu tokens at once, which take %zu bytes",
                   where_.c_str(), rows_.size(), bytes);
  const Buffers buffers(memory_.as<float>(), shape_, rows_.size(), fed, wanted);
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const std::size_t half = rotary_.pairs();
    rotary_.angles(rows_[r].position, buffers.cosines + r * half, buffers.sines + r * half);
    const Result<void> read =
        read_finite_rows(*embedding_, where_, static_cast<std::size_t>(rows_[r].token), 1,
                         buffers.hidden + r * shape_.hidden);
    if (!read) return read;
  }
  std::size_t rows = rows_.size();
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    const Result<void> taken_heads = take_heads(layer, buffers);
    if (!taken_heads) return taken_heads;
    // What later tokens see of the last layer are its keys and values: the rest of it is for
    // logits.
    if (layer + 1 == layers_.size()) rows = keep_wanted(continuations, buffers);
    const Result<void> finished = rows > 0 ? finish_layer(layer, rows, buffers) : Result<void>();
    if (!finished) return finished;
  }
  const Result<void> projected = project_logits(continuations, rows, buffers);
  if (!projected) return projected;
  for (const Continuation& one : continuations)
    one.sequence->advance_to(one.sequence->length() + one.tokens.size());
  return {};
}

RowSource Decoder::normalised(const float* x, const std::vector<float>& weight) const {
  return {.x = x,
          .kind = RowSource::Kind::rms_norm,
          .weight = weight.data(),
          .epsilon = shape_.norm_epsilon};
}

Result<void> Decoder::take_heads(std::size_t index, const Buffers& b) {
  struct Preparing {
    Decoder* decoder;
    std::size_t layer;
    const Buffers* buffers;
  } preparing{this, index, &b};
  const auto prepare = [](void* context, std::size_t row) {
    const Preparing& own = *static_cast<Preparing*>(context);
    own.decoder->prepare_heads(own.layer, row, *own.buffers);
  };
  Layer& layer = layers_[index];
  return layer.query_key_value.forward(
      normalised(b.hidden, layer.attention_norm), rows_.size(),
      {.y = b.heads,
       .complete = prepare,
       .context = &preparing,
       .operations = 4 * (shape_.query_width() + 2 * shape_.key_width())});
}

/// Moves the rows whose logits are wanted to the front of the stream, each over one that is not
/// needed any more; returns how many they are.
std::size_t Decoder::keep_wanted(std::span<const Continuation> continuations, const Buffers& b) {
  blocks_.clear();
  std::size_t wanted = 0;
  std::size_t end = 0;
  for (const Continuation& one : continuations) {
    end += one.tokens.size();
    if (one.logits == nullptr) continue;
    const std::size_t first = end - one.wanted;
    for (std::size_t i = 0; i < one.wanted; i += Attention::most_rows)
      blocks_.push_back({first + i, std::min(Attention::most_rows, one.wanted - i), wanted + i});
    std::memmove(b.hidden + wanted * shape_.hidden, b.hidden + first * shape_.hidden,
                 one.wanted * shape_.hidden * sizeof(float));
    wanted += one.wanted;
  }
  return wanted;
}

Result<void> Decoder::finish_layer(std::size_t index, std::size_t rows, const Buffers& b) {
  Layer& layer = layers_[index];
  attend(index, b);
  Result<void> done =
      layer.attention_output.forward({.x = b.mixed}, rows, {.y = b.hidden, .added = true});
  for (std::size_t first = 0; done && first < rows; first += b.fed) {
    const std::size_t count = std::min(b.fed, rows - first);
    float* const hidden = b.hidden + first * shape_.hidden;
    done =
        layer.gate_up.forward(normalised(hidden, layer.feed_forward_norm), count, {.y = b.gate_up});
    if (!done) break;
    done = layer.down.forward({.x = b.gate_up, .kind = RowSource::Kind::silu_multiply}, count,
                              {.y = hidden, .added = true});
  }
  return done;
}

/// Of one row: normalises (Qwen3) and turns queries and keys; stores keys and values.
void Decoder::prepare_heads(std::size_t index, std::size_t r, const Buffers& b) {
  const ModelSteps& step = steps();
  const Layer& layer = layers_[index];
  const std::size_t depth = shape_.head_depth;
  const std::size_t half = rotary_.pairs();
  float* const heads = b.heads + r * (shape_.query_width() + 2 * shape_.key_width());
  for (std::size_t h = 0; h < shape_.heads + shape_.key_heads; ++h) {
    float* const head = heads + h * depth;
    const std::vector<float>& norm = h < shape_.heads ? layer.query_norm : layer.key_norm;
    if (!norm.empty()) step.rms_norm(head, norm.data(), depth, shape_.norm_epsilon, head);
    step.rotate(head, b.cosines + r * half, b.sines + r * half, half);
  }
  const Row& row = rows_[r];
  const float* const keys = heads + shape_.query_width();
  const float* const values = keys + shape_.key_width();
  for (std::size_t h = 0; h < shape_.key_heads; ++h) {
    row.sequence->store_key(index, h, row.position, keys + h * depth);
    row.sequence->store_value(index, h, row.position, values + h * depth);
  }
}

void Decoder::attend(std::size_t index, const Buffers& b) {
  const ModelSteps& step = steps();
  const std::size_t width = shape_.query_width() + 2 * shape_.key_width();
  std::size_t operations = 0;
  for (const RowBlock& block : blocks_)
    operations += block.rows * rows_[block.row].position * shape_.query_width();
  engine_->share(blocks_.size() * shape_.key_heads, operations,
                 [&](std::size_t item, std::size_t thread) noexcept {
                   const RowBlock& block = blocks_[item / shape_.key_heads];
                   attention_.run(step,
                                  {.sequence = rows_[block.row].sequence,
                                   .layer = index,
                                   .position = rows_[block.row].position,
                                   .rows = block.rows,
                                   .visible = 0,
                                   .queries = b.heads + block.row * width,
                                   .query_floats = width,
                                   .out = b.mixed + block.out * shape_.query_width(),
                                   .out_floats = shape_.query_width()},
                                  item % shape_.key_heads, thread);
                 });
}

/// Where all wanted logits go if they lie one after the other, else null.
float* Decoder::logits_together(std::span<const Continuation> continuations) const {
  float* first = nullptr;
  float* next = nullptr;
  for (const Continuation& one : continuations) {
    if (one.logits == nullptr) continue;
    if (first == nullptr) first = next = one.logits;
    if (one.logits != next) return nullptr;
    next += one.wanted * shape_.vocabulary;
  }
  return first;
}

Result<void> Decoder::project_logits(std::span<const Continuation> continuations,
                                     std::size_t wanted, const Buffers& b) {
  if (wanted == 0) return {};
  float* const together = logits_together(continuations);
  const Result<void> done = output_.front().forward(
      normalised(b.hidden, final_norm_), wanted, {.y = together != nullptr ? together : b.logits});
  if (!done || together != nullptr) return done;
  const float* from = b.logits;
  for (const Continuation& one : continuations) {
    if (one.logits == nullptr) continue;
    std::memcpy(one.logits, from, one.wanted * shape_.vocabulary * sizeof(float));
    from += one.wanted * shape_.vocabulary;
  }
  return {};
}

}  // namespace axle::runtime
