#include "builder/build_back_end.h"

#include <fmt/format.h>

#include "wheel/requirement.h"

namespace axle::builder {
namespace {

/// Without `build-backend` it is setuptools (PEP 517, "Build requirements").
constexpr std::string_view default_back_end = "setuptools";

/// "scikit_build_core.build" -> "scikit-build-core"
std::string package_of(std::string_view back_end) {
  if (back_end == "mesonpy") return "meson-python";
  if (back_end.starts_with("poetry.core")) return "poetry-core";
  return wheel::normalize_name(back_end.substr(0, back_end.find_first_of(".:")));
}

}  // namespace

void refuse_other_back_end(documents::TomlTable& root, const Project& project) {
  auto table = root.table("build-system");
  if (!table) return;
  const std::string named = table->text("build-backend").value_or("");
  const std::string back_end =
      package_of(named.empty() ? default_back_end : std::string_view(named));
  if (!project.packages.empty() || project.cmake) return;
  table->refuse(
      named.empty() ? "requires" : "build-backend",
      fmt::format(
          "the project uses the build back end {}{}, which `variant build` does not support yet",
          back_end, named.empty() ? " (the default)" : fmt::format(" (\"{}\")", named)),
      "list under [tool.axle] what goes into the wheels: packages = [\"src/name\"] for Python "
      "code, cmake.source = \".\" for a CMake project; or build plain wheels with `python -m pip "
      "wheel --no-deps DIR`",
      ErrorKind::unsupported);
}

}  // namespace axle::builder
