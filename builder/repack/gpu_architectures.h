#pragma once
// The architectures for which the libraries of a wheel have compiled code, and what a variant with
// the code of one of them says.

#include <string>
#include <vector>

#include "binaries/binary_scan.h"
#include "builder/repack/repack.h"
#include "foundation/report/report.h"

namespace axle::builder {

struct GpuArchitecture {
  std::string name;     ///< "sm_90", "gfx942", "gfx9-4-generic"
  std::string label;    ///< "sm90", "gfx942", "gfx9_4_generic"
  unsigned number = 0;  ///< 90; 0 of gfx
  bool newest = false;  ///< of sm: no other has a larger number
  wheel::VariantProperties properties;
};

/// Oldest first. One that no property stands for, or whose property would promise the code to GPUs
/// that do not run it, is left out with a warning. `names`: "90", "gfx942".
[[nodiscard]] std::vector<GpuArchitecture> split_architectures(
    SplitBy by, const std::vector<std::string>& names, Report& report);

/// The bundled machines that take the wheel with properties `own` and the libraries `before` it is
/// split, and the label in `after` that each of them takes then.
[[nodiscard]] Result<std::vector<KeptMachine>> kept_machines(
    SplitBy by, const std::vector<binaries::BinaryFacts>& before,
    const std::vector<GpuArchitecture>& after, const wheel::VariantProperties& own);

}  // namespace axle::builder
