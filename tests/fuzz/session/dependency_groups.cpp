// Dependency groups of a pyproject.toml: each is read or refused with the file, each only once.
#include "session/requests/dependency_groups.h"

#include <cstdint>
#include <string_view>

#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using axle::fuzz::require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto groups = axle::session::DependencyGroups::parse(text, "pyproject.toml");
  if (!groups) {
    require(groups.error().message.starts_with("pyproject.toml"));
    return 0;
  }
  std::vector<axle::session::FileRequirement> into;
  for (const std::string& name : groups->names()) {
    const auto taken = groups->take(name, into);
    if (taken) continue;
    require(taken.error().message.starts_with("pyproject.toml"));
    require(!taken.error().hint.empty());
    return 0;
  }
  for (const auto& requirement : into) require(requirement.origin.starts_with("pyproject.toml:"));
  require(into.size() <= size);
  return 0;
}
