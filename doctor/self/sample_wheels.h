#pragma once
// Wheels whose choice is known, for the tests of the program by itself.

#include <string>
#include <vector>

#include "foundation/report/error.h"

namespace axle::doctor {

struct SampleWheel {
  std::string file_name;
  std::string bytes;
};

/// `demo 1.0` as variants for levels of x86-64, and the two releases of what it requires.
[[nodiscard]] Result<std::vector<SampleWheel>> make_sample_wheels();

/// Writes `bytes` to a new file.
[[nodiscard]] Result<void> write_sample(const std::string& path, const std::string& bytes);

}  // namespace axle::doctor
