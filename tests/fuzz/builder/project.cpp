// pyproject.toml as the builder reads it.
#include "builder/project.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  axle::CollectedReport report;
  const auto project = axle::builder::parse_project(text, "fuzz", report);
  if (!project && project.error().message.empty()) std::abort();
  if (project && project->matrix.empty()) std::abort();
  return 0;
}
