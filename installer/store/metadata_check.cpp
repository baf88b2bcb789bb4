#include "installer/store/metadata_check.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "wheel/core_metadata.h"

namespace axle::installer {
namespace {

using Texts = std::set<std::string>;

Texts requirements_of(const wheel::CoreMetadata& metadata) {
  Texts texts;
  for (wheel::Requirement requirement : metadata.requires_dist) {
    requirement.name = wheel::normalize_name(requirement.name);
    texts.insert(wheel::render_requirement(requirement));
  }
  return texts;
}

Texts without(const Texts& all, const Texts& others) {
  Texts rest;
  std::ranges::set_difference(all, others, std::inserter(rest, rest.end()));
  return rest;
}

/// "Requires-Dist: only in the wheel: a<2; only in the index: b"
void compare(std::string_view field, const Texts& own, const Texts& used,
             std::vector<std::string>& differences) {
  Texts added = without(own, used);
  Texts removed = without(used, own);
  added.erase("");  // a missing field
  removed.erase("");
  std::string text;
  if (!added.empty()) text += fmt::format("only the wheel has {}", fmt::join(added, ", "));
  if (!removed.empty()) {
    text +=
        fmt::format("{}only the index has {}", text.empty() ? "" : ", ", fmt::join(removed, ", "));
  }
  if (!text.empty()) differences.push_back(fmt::format("{}: {}", field, text));
}

}  // namespace

Result<void> check_metadata(const plan::ResolvedPackage& package, std::string_view text) {
  if (!package.metadata) return {};
  auto own = wheel::parse_core_metadata(text, package.filename + ": METADATA");
  if (!own) return std::unexpected(own.error());
  const wheel::CoreMetadata& used = *package.metadata;
  std::vector<std::string> differences;
  compare("Name", {wheel::normalize_name(own->name)}, {wheel::normalize_name(used.name)},
          differences);
  compare("Version", {wheel::render_version(own->version)}, {wheel::render_version(used.version)},
          differences);
  compare("Requires-Python", {wheel::render_specifiers(own->requires_python)},
          {wheel::render_specifiers(used.requires_python)}, differences);
  compare("Requires-Dist", requirements_of(*own), requirements_of(used), differences);
  compare("Provides-Extra", Texts(own->provides_extra.begin(), own->provides_extra.end()),
          Texts(used.provides_extra.begin(), used.provides_extra.end()), differences);
  if (differences.empty()) return {};
  return fail(ErrorKind::mismatch,
              fmt::format("the METADATA in {} differs from the one that {} gives for it: {}",
                          package.filename, package.source, fmt::join(differences, "; ")),
              "report it to the index's operator");
}

}  // namespace axle::installer
