#pragma once
// What was measured, in a file: for each machine the layers for which something else than the
// default is faster. A file is read with distrust: what is in it can make a pass slower at worst.
//
//   {"axle_tuning": 1, "machines": [
//     {"cpu": "GenuineIntel 6/143/8", "features": "avx2 …", "l2": 2097152, "l3": 503316480,
//      "threads": 2, "kernels": "<digits>", "layers": [
//        {"mode": "a16w8", "group": 0, "n": 3072, "k": 2048, "rows": 4,
//         "kernel": "avx512_vnni", "threads": 0, "chunk": 0, "gain": 1.07}]}]}

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/layer_choices.h"
#include "runtime/result.h"
#include "runtime/tune/machine_signature.h"

namespace axle::runtime {

struct TunedLayer {
  LayerShape shape;
  std::size_t rows = 1;  ///< one of row_buckets
  std::string kernel;    ///< a kernel set by name, which need not exist
  std::uint64_t threads = 0;
  std::uint64_t chunk = 0;  ///< bytes
  double gain = 1;          ///< how many times as fast as the default
};

struct TunedMachine {
  MachineSignature machine;
  std::vector<TunedLayer> layers;
};

struct TuningTable {
  std::vector<TunedMachine> machines;

  /// `tuned` in the place of all that is known of these shapes on this machine.
  void put(const MachineSignature& machine, std::span<const LayerShape> shapes,
           const std::vector<TunedLayer>& tuned);
};

/// Errors name `where`: AXLE_MALFORMED, or AXLE_UNSUPPORTED for a later format.
[[nodiscard]] Result<TuningTable> parse_tuning(std::string_view text, const std::string& where);
[[nodiscard]] std::string render_tuning(const TuningTable& table);

/// AXLE_IO if there is no such file or it is longer than such a table can be.
[[nodiscard]] Result<TuningTable> read_tuning(const std::string& path);

/// Takes what is said of this machine; counts the layers taken. Layers for a set that this build or
/// machine has not are left to the default. AXLE_UNSUPPORTED if nothing is said of this machine.
Result<std::size_t> apply_tuning(const TuningTable& table, Engine& engine);

/// axle_runtime_tuning.json beside the library (or program) that this code is in; "" if the system
/// does not say where that is.
[[nodiscard]] std::string shipped_tuning_path();

}  // namespace axle::runtime
