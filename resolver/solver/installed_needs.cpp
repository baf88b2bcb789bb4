#include "resolver/solver/installed_needs.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "wheel/requirement.h"
#include "wheel/variant/variant_markers.h"

namespace axle::resolver {
std::vector<InstalledNeed> needs_of(const plan::InstalledPackage& package,
                                    const wheel::MarkerEnvironment& interpreter,
                                    Families& families) {
  std::vector<InstalledNeed> needs;
  const wheel::MarkerEnvironment markers = wheel::variant_markers(
      interpreter, package.family.empty() ? package.variant.value_or("") : "",
      package.variant_properties);
  for (const wheel::Requirement& requirement : package.dependencies) {
    if (requirement.marker && !requirement.marker->evaluate(markers)) continue;
    needs.push_back({wheel::normalize_name(requirement.name),
                     {requirement.specifiers},
                     {},
                     wheel::render_requirement(requirement)});
  }
  for (const wheel::AbiNeed& need : package.abi_needs) {
    needs.push_back({need.package, need.any_of, {}, need.text + ", according to its variant"});
  }
  const std::string label =
      package.family.empty() ? std::string() : package.variant.value_or(std::string());
  if (auto built = families.built_for(package.name, package.version, package.dependencies, label)) {
    std::string text = fmt::format("{}, according to its {} {}", built->render(),
                                   package.version.local.empty() ? "label" : "version",
                                   (package.version.local.empty() ? "" : "+") + built->local);
    needs.push_back(
        {std::string(torch_package), {built->versions()}, std::move(built), std::move(text)});
  }
  return needs;
}

Unresolved refused_breakages(std::vector<Breakage> broken) {
  std::vector<std::string> texts;
  std::vector<std::string> names;
  for (const Breakage& one : broken) {
    texts.push_back(fmt::format("{} {}, which is installed, needs {}; it would get {}", one.name,
                                one.version, one.needs, one.gets));
    if (std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
  }
  Unresolved refused;
  refused.kind = ErrorKind::conflict;
  refused.message = fmt::format("this would break installed packages: {}", fmt::join(texts, "; "));
  refused.hint = fmt::format(
      "name {0} in the same command to upgrade it too, ask for a version that it works with, or "
      "uninstall it first: `variant uninstall {0}`",
      fmt::join(names, " "));
  refused.broken = std::move(broken);
  return refused;
}

}  // namespace axle::resolver
