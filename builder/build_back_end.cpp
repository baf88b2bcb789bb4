#include "builder/build_back_end.h"

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

std::string read_back_end(documents::TomlTable& root) {
  auto table = root.table("build-system");
  if (!table) return {};
  const std::string named = table->text("build-backend").value_or("");
  return package_of(named.empty() ? default_back_end : std::string_view(named));
}

}  // namespace axle::builder
