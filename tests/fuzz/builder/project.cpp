// pyproject.toml as the builder reads it, and the CI files that follow from it.
#include "builder/project.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "builder/ci/ci_file.h"
#include "builder/ci/ci_plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  axle::CollectedReport report;
  const auto project = axle::builder::parse_project(text, "fuzz", report);
  if (!project && project.error().message.empty()) std::abort();
  if (project && project->matrix.empty()) std::abort();
  if (!project) return 0;
  const auto plan = axle::builder::plan_ci(*project, {"demo", "demo/ci", 2, {"setup"}, {"cross"}});
  if (!plan) return 0;
  for (const auto render : {axle::builder::render_github, axle::builder::render_gitlab,
                            axle::builder::render_slurm, axle::builder::render_make}) {
    // All texts are plain lines: nothing else ends one.
    for (const char c : render(*plan)) {
      if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') std::abort();
    }
  }
  return 0;
}
