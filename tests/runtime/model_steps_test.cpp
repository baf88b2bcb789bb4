// The steps of a model between its linear layers: the same bytes from every kernel set, close to
// the same in double, and independent of how many rows are computed together.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "runtime/kernel.h"
#include "tests/runtime/kernel_sets.h"

namespace axle::runtime {
namespace {

using Floats = std::vector<float>;

Floats random_floats(std::size_t count, std::uint32_t seed, float size = 1.0F) {
  std::mt19937 engine(seed);
  Floats values(count);
  for (float& value : values)
    value = size * (static_cast<float>(engine() % 20001) / 10000.0F - 1.0F);
  return values;
}

bool same_bytes(const Floats& a, const Floats& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

/// Runs `step` with the steps of every kernel set; all results must be the same. Returns them.
template <class Step>
Floats on_all_sets(Step step) {
  const std::vector<KernelRow>& sets = kernel_sets_to_test();
  const Floats first = step(*sets.front().set->model);
  for (const KernelRow& row : sets) {
    CAPTURE(row.name);
    CHECK(same_bytes(step(*row.set->model), first));
  }
  return first;
}

double close(float a, double b) { return std::abs(static_cast<double>(a) - b); }

/// To the nearest, ties to even: a whole number of steps of 2^step.
std::uint16_t to_half(float value) {
  const double magnitude = std::abs(static_cast<double>(value));
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const int step = std::max(exponent - 1, -14) - 10;
  const int bits = (step + 24) * 1024 + static_cast<int>(std::lrint(std::ldexp(magnitude, -step)));
  return static_cast<std::uint16_t>(value < 0 ? bits | 0x8000 : bits);
}

double from_half(std::uint16_t half) {
  const int exponent = (half >> 10) & 31;
  const double mantissa = static_cast<double>(half & 0x3ff) / 1024.0;
  const double magnitude =
      exponent == 0 ? std::ldexp(mantissa, -14) : std::ldexp(1.0 + mantissa, exponent - 15);
  return (half & 0x8000) != 0 ? -magnitude : magnitude;
}

}  // namespace

TEST_CASE("norms are those of the definition") {
  for (const std::size_t count : {16UL, 64UL, 576UL}) {
    const Floats x = random_floats(count, 1, 5);
    const Floats weight = random_floats(count, 2);
    const Floats bias = random_floats(count, 3);
    double squares = 0;
    double total = 0;
    for (const float v : x) {
      squares += static_cast<double>(v) * static_cast<double>(v);
      total += static_cast<double>(v);
    }
    const double n = static_cast<double>(count);
    const double mean = total / n;
    const Floats rms = on_all_sets([&](const ModelSteps& steps) {
      Floats y(count);
      steps.rms_norm(x.data(), weight.data(), count, 1e-5F, y.data());
      return y;
    });
    const Floats layer = on_all_sets([&](const ModelSteps& steps) {
      Floats y = x;
      steps.layer_norm(y.data(), weight.data(), bias.data(), count, 1e-12F, y.data());
      return y;
    });
    for (std::size_t i = 0; i < count; ++i) {
      const double v = static_cast<double>(x[i]);
      const double w = static_cast<double>(weight[i]);
      CHECK(close(rms[i], v / std::sqrt(squares / n + 1e-5) * w) < 1e-6);
      CHECK(close(layer[i], (v - mean) / std::sqrt(squares / n - mean * mean) * w +
                                static_cast<double>(bias[i])) < 3e-6);
    }
  }
}

TEST_CASE("activation functions over their whole range") {
  Floats x = random_floats(4096, 4, 12);
  x[0] = 0;
  x[1] = -0.0F;
  x[2] = 200;
  x[3] = -200;
  x[4] = 1e30F;
  x[5] = -1e30F;
  const Floats up = random_floats(x.size(), 5, 2);
  const Floats silu = on_all_sets([&](const ModelSteps& steps) {
    Floats y(x.size());
    steps.silu_multiply(x.data(), up.data(), x.size(), y.data());
    return y;
  });
  const Floats gelu = on_all_sets([&](const ModelSteps& steps) {
    Floats y = x;
    steps.gelu(y.data(), y.size());
    return y;
  });
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double v = static_cast<double>(x[i]);
    const double expected = v / (1 + std::exp(-v)) * static_cast<double>(up[i]);
    CAPTURE(v);
    CHECK(close(silu[i], expected) <= 4e-7 * std::abs(expected) + 1e-30 + (v < -80 ? 1e-5 : 0));
    CHECK(close(gelu[i], v / 2 * (1 + std::erf(v / std::sqrt(2.0)))) <= 2.5e-7 * std::abs(v));
  }
}

TEST_CASE("a NaN stays one through the steps that are element by element") {
  Floats x(16, 1.0F);
  x[3] = std::numeric_limits<float>::quiet_NaN();
  for (const KernelRow& row : kernel_sets_to_test()) {
    Floats silu(16);
    row.set->model->silu_multiply(x.data(), Floats(16, 1.0F).data(), 16, silu.data());
    Floats gelu = x;
    row.set->model->gelu(gelu.data(), 16);
    Floats norm(16);
    row.set->model->rms_norm(x.data(), Floats(16, 1.0F).data(), 16, 1e-5F, norm.data());
    CHECK(std::isnan(silu[3]));
    CHECK(std::isnan(gelu[3]));
    CHECK(std::isnan(norm[0]));
    CHECK(!std::isnan(silu[4]));
  }
}

TEST_CASE("a row whose squares are beyond float32 is NaN, not zero") {
  const Floats x(32, 1e20F);
  const Floats ones(32, 1.0F);
  Floats wide = x;
  wide[7] = -1e20F;  // else the variance is zero
  for (const KernelRow& row : kernel_sets_to_test()) {
    CAPTURE(row.name);
    Floats rms(32);
    row.set->model->rms_norm(x.data(), ones.data(), 32, 1e-5F, rms.data());
    Floats layer(32);
    row.set->model->layer_norm(wide.data(), ones.data(), ones.data(), 32, 1e-5F, layer.data());
    for (std::size_t i = 0; i < 32; ++i) {
      CHECK(std::isnan(rms[i]));
      CHECK(std::isnan(layer[i]));
    }
  }
}

TEST_CASE("a rotation turns pairs half a head apart") {
  for (const std::size_t half : {5UL, 16UL, 40UL}) {
    const Floats head = random_floats(2 * half, 6);
    Floats cosines(half);
    Floats sines(half);
    for (std::size_t i = 0; i < half; ++i) {
      cosines[i] = std::cos(static_cast<float>(i));
      sines[i] = std::sin(static_cast<float>(i));
    }
    const Floats turned = on_all_sets([&](const ModelSteps& steps) {
      Floats y = head;
      steps.rotate(y.data(), cosines.data(), sines.data(), half);
      return y;
    });
    for (std::size_t i = 0; i < half; ++i) {
      const double c = static_cast<double>(cosines[i]);
      const double s = static_cast<double>(sines[i]);
      const double a = static_cast<double>(head[i]);
      const double b = static_cast<double>(head[half + i]);
      CHECK(close(turned[i], a * c - b * s) < 3e-7);
      CHECK(close(turned[half + i], b * c + a * s) < 3e-7);
    }
  }
}

TEST_CASE("float layers sum in the order of the depth, each row by itself") {
  const std::size_t depth = 77;
  const std::size_t rows = 7;
  const Floats weights = random_floats(depth * block_columns, 7);
  const Floats x = random_floats(rows * depth, 8);
  const auto product = [&](const ModelSteps& steps, std::size_t at_once) {
    Floats y(rows * block_columns);
    for (std::size_t row = 0; row < rows; row += at_once)
      steps.multiply_floats({.weights = weights.data(),
                             .x = x.data() + row * depth,
                             .x_floats = depth,
                             .rows = std::min(at_once, rows - row),
                             .depth = depth,
                             .y = y.data() + row * block_columns,
                             .y_floats = block_columns});
    return y;
  };
  const Floats y = on_all_sets([&](const ModelSteps& steps) { return product(steps, rows); });
  for (const std::size_t at_once : {1UL, 2UL, 5UL})
    CHECK(same_bytes(on_all_sets([&](const ModelSteps& steps) { return product(steps, at_once); }),
                     y));
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < block_columns; ++c) {
      float expected = 0;
      for (std::size_t k = 0; k < depth; ++k) {
        const float term = x[r * depth + k] * weights[k * block_columns + c];
        expected += term;
      }
      CHECK(y[r * block_columns + c] == expected);
    }
  }
}

namespace {

/// Keys and values of one head, in pages; what is beyond `positions` is there, and must not count.
struct Cached {
  CacheForm form;
  std::size_t depth;
  std::size_t positions;
  std::size_t pages;
  std::vector<double> keys;  ///< [positions][depth], as they are stored
  std::vector<double> values;
  std::vector<std::vector<unsigned char>> key_pages;
  std::vector<std::vector<unsigned char>> value_pages;
  std::vector<Floats> key_scales;
  std::vector<Floats> value_scales;
  std::vector<const void*> key_pointers;
  std::vector<const void*> value_pointers;
  std::vector<const float*> key_scale_pointers;
  std::vector<const float*> value_scale_pointers;
};

double store(CacheForm form, float value, float scale, unsigned char* to, std::size_t at) {
  if (form == CacheForm::float32) {
    std::memcpy(to + at * 4, &value, 4);
    return static_cast<double>(value);
  }
  if (form == CacheForm::float16) {
    const std::uint16_t half = to_half(value);
    std::memcpy(to + at * 2, &half, 2);
    return from_half(half);
  }
  const int quantised = static_cast<int>(std::lrint(value * 127));
  to[at] = static_cast<unsigned char>(quantised);
  return quantised * static_cast<double>(scale);
}

Cached make_cached(CacheForm form, std::size_t depth, std::size_t positions, std::uint32_t seed) {
  const std::size_t pages = (positions + page_positions - 1) / page_positions;
  Cached c{form, depth, positions, pages, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}};
  c.keys.resize(pages * page_positions * depth);
  c.values.resize(c.keys.size());
  const Floats keys = random_floats(c.keys.size(), seed);
  const Floats values = random_floats(c.keys.size(), seed + 1);
  const std::size_t element = form == CacheForm::float32 ? 4 : form == CacheForm::float16 ? 2 : 1;
  for (std::size_t p = 0; p < pages; ++p) {
    c.key_scales.push_back(
        random_floats(page_positions, seed + 2 + static_cast<std::uint32_t>(p), 0.01F));
    c.value_scales.push_back(
        random_floats(page_positions, seed + 90 + static_cast<std::uint32_t>(p), 0.01F));
    c.key_pages.emplace_back(page_positions * depth * element);
    c.value_pages.emplace_back(page_positions * depth * element);
    for (std::size_t i = 0; i < page_positions; ++i) {
      for (std::size_t d = 0; d < depth; ++d) {
        const std::size_t at = (p * page_positions + i) * depth + d;
        c.keys[at] = store(form, keys[at], c.key_scales[p][i], c.key_pages[p].data(),
                           d * page_positions + i);
        c.values[at] =
            store(form, values[at], c.value_scales[p][i], c.value_pages[p].data(), i * depth + d);
      }
    }
  }
  for (std::size_t p = 0; p < pages; ++p) {
    c.key_pointers.push_back(c.key_pages[p].data());
    c.value_pointers.push_back(c.value_pages[p].data());
    c.key_scale_pointers.push_back(c.key_scales[p].data());
    c.value_scale_pointers.push_back(c.value_scales[p].data());
  }
  return c;
}

/// Row r sees positions [first, last - r).
Floats attend(const ModelSteps& steps, const Cached& c, const Floats& queries, std::size_t rows,
              std::size_t at_once, std::size_t first) {
  const std::size_t padded = c.pages * page_positions;
  Floats out(rows * c.depth);
  for (std::size_t row = 0; row < rows; row += at_once) {
    const std::size_t count = std::min(at_once, rows - row);
    Floats scores(count * padded, std::numeric_limits<float>::quiet_NaN());
    Floats factors(count);
    steps.score({.queries = queries.data() + row * c.depth,
                 .query_floats = c.depth,
                 .rows = count,
                 .depth = c.depth,
                 .form = c.form,
                 .pages = c.key_pointers.data(),
                 .scales = c.key_scale_pointers.data(),
                 .page_count = c.pages,
                 .factor = 0.125F,
                 .scores = scores.data(),
                 .score_floats = padded});
    for (std::size_t r = 0; r < count; ++r)
      factors[r] = 1.0F / steps.exponentiate(scores.data() + r * padded, first,
                                             c.positions - row - r, padded);
    steps.mix({.weights = scores.data(),
               .weight_floats = padded,
               .factors = factors.data(),
               .rows = count,
               .depth = c.depth,
               .form = c.form,
               .pages = c.value_pointers.data(),
               .scales = c.value_scale_pointers.data(),
               .page_count = c.pages,
               .out = out.data() + row * c.depth,
               .out_floats = c.depth});
  }
  return out;
}

}  // namespace

TEST_CASE("attention is that of the definition, for every form of the cache") {
  for (const CacheForm form : {CacheForm::float32, CacheForm::float16, CacheForm::int8}) {
    for (const std::size_t positions : {9UL, 16UL, 83UL}) {
      const std::size_t depth = positions == 9 ? 16 : positions == 16 ? 64 : 80;
      const std::size_t rows = 6;
      const std::size_t first = positions == 83 ? 20 : 0;
      const Cached c = make_cached(form, depth, positions, 20);
      const Floats queries = random_floats(rows * depth, 21, 3);
      const auto whole = [&](const ModelSteps& steps) {
        return attend(steps, c, queries, rows, rows, first);
      };
      const Floats out = on_all_sets(whole);
      for (const std::size_t at_once : {1UL, 4UL})
        CHECK(same_bytes(on_all_sets([&](const ModelSteps& steps) {
                           return attend(steps, c, queries, rows, at_once, first);
                         }),
                         out));
      for (std::size_t r = 0; r < rows; ++r) {
        std::vector<double> weights(positions - r);
        double most = -1e300;
        for (std::size_t p = first; p < weights.size(); ++p) {
          double dot = 0;
          for (std::size_t d = 0; d < depth; ++d)
            dot += static_cast<double>(queries[r * depth + d]) * c.keys[p * depth + d];
          weights[p] = dot * 0.125;
          most = std::max(most, weights[p]);
        }
        double total = 0;
        for (std::size_t p = first; p < weights.size(); ++p)
          total += weights[p] = std::exp(weights[p] - most);
        for (std::size_t d = 0; d < depth; ++d) {
          double expected = 0;
          for (std::size_t p = first; p < weights.size(); ++p)
            expected += weights[p] / total * c.values[p * depth + d];
          CHECK(close(out[r * depth + d], expected) < 2e-6);
        }
      }
    }
  }
}

TEST_CASE("every half is read exactly") {
  // A page of depth 16 whose weights pick out one position after another.
  for (const KernelRow& row : kernel_sets_to_test()) {
    CAPTURE(row.name);
    bool exact = true;
    for (std::uint32_t start = 0; start < 0x10000; start += 256) {
      std::uint16_t page[256];
      for (std::uint32_t i = 0; i < 256; ++i) page[i] = static_cast<std::uint16_t>(start + i);
      if ((start & 0x7c00U) == 0x7c00U) continue;  // infinities and NaNs are never stored
      const void* pages[] = {page};
      for (std::size_t position = 0; position < page_positions; ++position) {
        float weights[16] = {};
        weights[position] = 1;
        const float factor = 1;
        float out[16];
        row.set->model->mix(
            {weights, 16, &factor, 1, 16, CacheForm::float16, pages, nullptr, 1, out, 16});
        for (std::size_t i = 0; i < 16; ++i)
          exact = exact && static_cast<double>(out[i]) == from_half(page[position * 16 + i]);
      }
    }
    CHECK(exact);
  }
}

}  // namespace axle::runtime
