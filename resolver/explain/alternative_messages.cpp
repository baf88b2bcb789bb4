#include "resolver/explain/alternative_messages.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "resolver/explain/messages.h"

namespace axle::resolver {

Error same_modules(std::string_view name, std::string_view other,
                   const index::Alternatives& group) {
  return {ErrorKind::conflict,
          fmt::format("{} and {} both install {}: only one of them can be in an environment", name,
                      other, fmt::join(group.modules, ", ")),
          "name the one to use in the same command: it stands for the other; --overwrite has "
          "both"};
}

Error same_modules_wanted(Error same_modules, const std::vector<const Want*>& wants) {
  if (!wants.empty()) same_modules.message += "; " + render_wants(wants);
  bool both_named = wants.size() > 1;
  for (const Want* want : wants) both_named = both_named && want->is_request();
  if (both_named) same_modules.hint = "leave one of them out, or have both with --overwrite";
  return same_modules;
}

Error refused_replacement(const Replacement& replacement) {
  return {ErrorKind::conflict,
          fmt::format("{} {} is installed, {} {} would replace it: both install {}",
                      replacement.installed, replacement.installed_version, replacement.name,
                      replacement.version, fmt::join(replacement.group->modules, ", ")),
          fmt::format("use --allow-backend-change to accept this, or --overwrite to have both; "
                      "packages that require {} work with {} too",
                      replacement.name, replacement.installed)};
}

Error unlike_platforms(const std::vector<BuildFor>& builds) {
  std::vector<std::string> texts;
  for (const auto& [build, platform] : builds)
    texts.push_back(fmt::format("{} is for {}", build, platform));
  const std::string end =
      texts.size() == 1 ? ", and another package is not" : ": an environment has one of them";
  return {ErrorKind::conflict, fmt::format("{}{}", fmt::join(texts, ", "), end),
          "pin the version or the build of each of them to mix them all the same, or ask for "
          "versions that go together"};
}

Error unlike_labels(const std::vector<BuildFor>& builds) {
  std::vector<std::string> texts;
  for (const auto& [build, label] : builds) {
    // The version of a build has the label mostly.
    texts.push_back(build.ends_with("+" + label) ? build : fmt::format("{} ({})", build, label));
  }
  return {ErrorKind::conflict,
          fmt::format("{} are of unlike backends: the members of a family have one label",
                      fmt::join(texts, " and ")),
          "ask for versions that have a label in common, or name the build of each of them "
          "(`--variant PKG=LABEL`, `PKG==VERSION+LABEL`) to mix them all the same"};
}

std::string render_member(const index::AlternativeMember& member) {
  if (member.extras.empty()) return member.project;
  return fmt::format("{}[{}]", member.project, fmt::join(member.extras, ","));
}

}  // namespace axle::resolver
