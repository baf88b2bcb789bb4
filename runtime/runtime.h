#pragma once
// The runtime as `variant run` shows it: which kernels there are and why one is not used, a
// measurement, a self-test. Values only; the layers themselves are runtime/axle_runtime.h.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace axle::runtime {

struct KernelStatus {
  std::string name;
  bool built = false;                ///< this build contains it
  bool usable = false;               ///< built, and this machine has all it requires
  std::vector<std::string> missing;  ///< required capabilities that the machine lacks
};

struct RuntimeInfo {
  std::string version;
  std::string kernel;  ///< the one that comes first
  bool forced = false;
  unsigned threads = 0;
  std::vector<KernelStatus> kernels;  ///< the whole table, best first
};

/// What went wrong, for a person; empty: nothing.
struct Outcome {
  std::string problem;
  [[nodiscard]] bool ok() const { return problem.empty(); }
};

/// `kernel` empty: the best for each shape; `threads` 0: as many as CPUs this process may run on.
struct RuntimeChoice {
  std::string kernel;
  unsigned threads = 0;
};

/// `info` is filled also when the choice cannot be had; then `kernel` is empty.
[[nodiscard]] Outcome describe(const RuntimeChoice& choice, RuntimeInfo& info);

/// Every kernel of the choice on small shapes against plain sums.
[[nodiscard]] Outcome selftest(const RuntimeChoice& choice);

enum class Mode : std::uint8_t { da8w8, a16w8 };

struct BenchShape {
  Mode mode = Mode::da8w8;
  std::size_t m = 1;                                   ///< rows of x
  std::size_t n = 4096;                                ///< output features
  std::size_t k = 4096;                                ///< input features
  std::size_t weight_bytes = std::size_t{256} << 20U;  ///< rotate through at least so many
  double seconds = 0.5;
};

struct BenchFigures {
  std::string kernel;                    ///< that ran
  double microseconds = 0;               ///< best time of one forward pass
  double gigabytes_per_second = 0;       ///< weights read
  double gigaops_per_second = 0;         ///< 2 m n k
  double read_gigabytes_per_second = 0;  ///< plain reads, same threads, same run
};

[[nodiscard]] Outcome bench(const RuntimeChoice& choice, const BenchShape& shape,
                            BenchFigures& figures);

}  // namespace axle::runtime
