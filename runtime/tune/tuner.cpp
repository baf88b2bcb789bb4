#include "runtime/tune/tuner.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "runtime/machine/clock.h"
#include "runtime/machine/memory.h"
#include "runtime/tune/search.h"

namespace axle::runtime {
namespace {

/// Rows that the last bucket, which is open, is measured with.
constexpr std::size_t rows_of_last = 128;
/// What is tried there beside the default, so that a chunk's rows stay in a smaller cache.
constexpr std::size_t small_chunk_share = 4;
constexpr std::size_t least_cold_bytes = std::size_t{256} << 20;
constexpr std::size_t verifying_pairs = 7;
constexpr std::size_t least_won = 6;
/// A set that was so much slower than the default with fewer rows is not measured with more.
constexpr double left_behind = 2;

std::size_t rows_of(std::size_t bucket) {
  return bucket + 1 == bucket_count ? rows_of_last : row_buckets[bucket];
}

/// Tells whether something else ran during a measurement.
class Witness {
 public:
  /// With a real-time policy others wait, however many want to run.
  explicit Witness(int threads)
      : threads_(threads),
        load_(sched_getscheduler(0) == SCHED_OTHER ? open("/proc/loadavg", O_RDONLY | O_CLOEXEC)
                                                   : -1) {}
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;
  ~Witness() {
    if (load_ >= 0) close(load_);
  }

  void begin() { before_ = preemptions(); }
  /// Whether no thread of this process had to make way, and no more threads want to run now than
  /// this process has.
  [[nodiscard]] bool was_quiet() const {
    return preemptions() == before_ && wanting_to_run() <= threads_;
  }

 private:
  static long preemptions() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nivcsw;
  }

  /// Of all processes, this thread included; 0: the system does not say.
  [[nodiscard]] int wanting_to_run() const {
    // "0.20 0.18 0.12 1/80 11206", proc_loadavg(5)
    char text[64] = {};
    if (load_ < 0 || pread(load_, text, sizeof text - 1, 0) <= 0) return 0;
    const char* at = text;
    for (int spaces = 0; *at != '\0' && spaces < 3; ++at) spaces += *at == ' ' ? 1 : 0;
    return static_cast<int>(std::strtol(at, nullptr, 10));
  }

  int threads_;
  int load_;
  long before_ = 0;
};

struct Shape {
  LayerShape shape;
  std::vector<PassChoice> candidates;  ///< the default first
  std::vector<const KernelRow*> behind;
  std::optional<Search> search;
};

class Tuner {
 public:
  Tuner(Engine& engine, std::span<Linear* const> layers)
      : engine_(engine), layers_(layers), witness_(engine.pool().threads()) {
    const MachineSignature machine = machine_signature(engine);
    cold_bytes_ = std::max<std::size_t>(2 * machine.l2 * machine.threads, least_cold_bytes);
    engine_.forget_choices();
    for (Linear* const layer : layers) {
      const auto known = std::find_if(shapes_.begin(), shapes_.end(), [&](const Shape& one) {
        return one.shape == layer->shape();
      });
      shape_of_.push_back(static_cast<std::size_t>(known - shapes_.begin()));
      if (known == shapes_.end()) shapes_.push_back({layer->shape(), {}, {}, {}});
    }
  }

  Result<void> allocate();
  Result<void> tune(std::size_t bucket, const std::function<void(double part)>& progress);
  Tuning take() {
    for (const Shape& shape : shapes_) tuning_.shapes.push_back(shape.shape);
    return std::move(tuning_);
  }

 private:
  struct Sample {
    double seconds;
    bool quiet;
  };

  void list_candidates(Shape& shape, std::size_t bucket);
  void note_left_behind(Shape& shape);
  Result<Sample> run(Linear& layer, const PassChoice& choice, std::size_t rows);
  Result<bool> measure_each_layer(std::size_t rows);
  Result<double> run_all(std::size_t rows, bool tuned);
  Result<double> verify(std::size_t rows);
  [[nodiscard]] double decided() const;
  [[nodiscard]] std::size_t undecided_bytes() const;

  Engine& engine_;
  std::span<Linear* const> layers_;
  Witness witness_;
  std::size_t cold_bytes_;  ///< after so many bytes of others a layer's weights are in no cache
  std::vector<std::size_t> shape_of_;  ///< of each layer
  std::vector<Shape> shapes_;
  Memory x_;
  Memory y_;
  Tuning tuning_;
};

Result<void> Tuner::allocate() {
  std::size_t k = 0;
  std::size_t n = 0;
  for (const Shape& one : shapes_) {
    k = std::max(k, one.shape.k);
    n = std::max(n, one.shape.n);
  }
  x_ = Memory(rows_of_last * k * sizeof(float));
  y_ = Memory(rows_of_last * n * sizeof(float));
  if (x_.data() == nullptr || y_.data() == nullptr)
    return failure(AXLE_NO_MEMORY, "no memory for %zu rows of %zu and %zu numbers", rows_of_last, k,
                   n);
  // Different everywhere, of about the same size.
  for (std::size_t i = 0; i < rows_of_last * k; ++i)
    x_.as<float>()[i] = static_cast<float>(static_cast<int>(i * 2654435761U % 2001U) - 1000);
  return {};
}

void Tuner::list_candidates(Shape& shape, std::size_t bucket) {
  const std::size_t threads = static_cast<std::size_t>(engine_.pool().threads());
  const PassChoice usual = engine_.choice_for(shape.shape, rows_of(bucket));
  shape.candidates = {usual};
  for (std::size_t i = 0; i < engine_.kernels().size(); ++i) {
    const KernelRow* const kernel = engine_.kernels()[i];
    const bool behind =
        std::find(shape.behind.begin(), shape.behind.end(), kernel) != shape.behind.end();
    if ((behind && kernel != usual.kernel) || !engine_.may_use(i)) continue;
    if (kernel != usual.kernel) shape.candidates.push_back({kernel});
    if (threads > 1) shape.candidates.push_back({kernel, threads / 2});
    if (bucket + 1 == bucket_count)
      shape.candidates.push_back({kernel, 0, kernel->set->chunk_bytes / small_chunk_share});
  }
  shape.search.emplace(shape.candidates.size(), bucket * shapes_.size() + 1);
}

void Tuner::note_left_behind(Shape& shape) {
  for (std::size_t i = 1; i < shape.candidates.size(); ++i) {
    const PassChoice& one = shape.candidates[i];
    if (one.threads == 0 && one.chunk_bytes == 0 &&
        shape.search->best(i) > left_behind * shape.search->best(0))
      shape.behind.push_back(one.kernel);
  }
}

Result<Tuner::Sample> Tuner::run(Linear& layer, const PassChoice& choice, std::size_t rows) {
  axle_error error{};
  witness_.begin();
  const double start = now();
  const axle_status status =
      layer.forward(choice, AXLE_FLOAT32, x_.data(), rows, y_.as<float>(), &error);
  const double seconds = now() - start;
  if (status != AXLE_OK) return failure(status, "%s", error.message);
  return Sample{seconds, witness_.was_quiet()};
}

std::size_t Tuner::undecided_bytes() const {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    if (shapes_[shape_of_[i]].search->next()) bytes += layers_[i]->bytes();
  }
  return bytes;
}

/// One measurement of each layer whose shape is undecided. Others run with one row where that takes
/// the caches from those that are measured. False: all are decided.
Result<bool> Tuner::measure_each_layer(std::size_t rows) {
  bool undecided = false;
  std::size_t read = undecided_bytes();
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    Shape& shape = shapes_[shape_of_[i]];
    const std::optional<std::size_t> candidate = shape.search->next();
    if (!candidate && read >= cold_bytes_) continue;
    if (!candidate) read += layers_[i]->bytes();
    const PassChoice choice =
        candidate ? shape.candidates[*candidate] : engine_.choice_for(shape.shape, 1);
    const Result<Sample> sample = run(*layers_[i], choice, candidate ? rows : 1);
    if (!sample) return std::unexpected(sample.error());
    if (!candidate) continue;
    undecided = true;
    ++tuning_.measurements;
    shape.search->record(sample->seconds, sample->quiet);
  }
  return undecided;
}

Result<double> Tuner::run_all(std::size_t rows, bool tuned) {
  double seconds = 0;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const Shape& shape = shapes_[shape_of_[i]];
    const Result<Sample> sample =
        run(*layers_[i], shape.candidates[tuned ? shape.search->winner() : 0], rows);
    if (!sample) return std::unexpected(sample.error());
    seconds += sample->seconds;
  }
  return seconds;
}

/// How many times as fast as the default the winners are together; 1 where they are not faster in
/// most of the pairs.
Result<double> Tuner::verify(std::size_t rows) {
  std::vector<double> ratios;
  std::size_t won = 0;
  for (std::size_t pair = 0; pair < verifying_pairs; ++pair) {
    double seconds[2] = {};
    for (std::size_t turn = 0; turn < 2; ++turn) {
      const bool tuned = (pair + turn) % 2 == 1;
      const Result<double> one = run_all(rows, tuned);
      if (!one) return std::unexpected(one.error());
      seconds[tuned ? 1 : 0] = *one;
    }
    ratios.push_back(seconds[0] / seconds[1]);
    won += ratios.back() > 1 ? 1 : 0;
  }
  return won >= least_won ? median(ratios) : 1.0;
}

double Tuner::decided() const {
  const auto done = std::count_if(shapes_.begin(), shapes_.end(),
                                  [](const Shape& one) { return !one.search->next(); });
  return static_cast<double>(done) / static_cast<double>(shapes_.size());
}

Result<void> Tuner::tune(std::size_t bucket, const std::function<void(double part)>& progress) {
  const std::size_t rows = rows_of(bucket);
  for (Shape& shape : shapes_) list_candidates(shape, bucket);
  for (;;) {
    const Result<bool> undecided = measure_each_layer(rows);
    if (!undecided) return std::unexpected(undecided.error());
    if (progress) progress((static_cast<double>(bucket) + decided()) / bucket_count);
    if (!*undecided) break;
  }
  TunedBucket own{.rows = row_buckets[bucket]};
  for (Shape& shape : shapes_) {
    note_left_behind(shape);
    tuning_.disturbed += shape.search->disturbed();
    tuning_.undecided += shape.search->undecided() ? 1 : 0;
    if (shape.search->winner() != 0) ++own.changed;
  }
  if (own.changed > 0) {
    const Result<double> gain = verify(rows);
    if (!gain) return std::unexpected(gain.error());
    own.gain = *gain;
    if (own.gain <= 1) own = {.rows = own.rows};
  }
  tuning_.buckets.push_back(own);
  for (const Shape& shape : shapes_) {
    const std::size_t winner = shape.search->winner();
    if (own.changed == 0 || winner == 0) continue;
    const PassChoice& choice = shape.candidates[winner];
    tuning_.layers.push_back({.shape = shape.shape,
                              .rows = row_buckets[bucket],
                              .kernel = choice.kernel->name,
                              .threads = choice.threads,
                              .chunk = choice.chunk_bytes,
                              .gain = shape.search->gain()});
  }
  return {};
}

}  // namespace

Result<Tuning> tune_layers(Engine& engine, std::span<Linear* const> layers,
                           const std::function<void(double part)>& progress) {
  if (layers.empty())
    return failure(AXLE_UNSUPPORTED,
                   "there is no quantised layer to tune: in mode float there is one way only");
  Tuner tuner(engine, layers);
  Result<void> done = tuner.allocate();
  for (std::size_t bucket = 0; done && bucket < bucket_count; ++bucket)
    done = tuner.tune(bucket, progress);
  if (!done) return std::unexpected(done.error());
  return tuner.take();
}

}  // namespace axle::runtime
