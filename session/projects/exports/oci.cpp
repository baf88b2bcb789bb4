// Labels of a container image, a line each as `docker --label-file` and `podman --label-file` take
// them: on which machines what is in it runs.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "session/projects/exports/class_export.h"
#include "session/projects/exports/conditions.h"

namespace axle::session {

Result<std::string> render_oci(const ClassExport& one, Report&) {
  std::string text;
  const auto add = [&](std::string_view key, std::string value) {
    std::ranges::replace(value, '\n', ' ');
    text += fmt::format("axle.{}={}\n", key, value);
  };
  add("class", one.about.name);
  add("machine", one.about.machine);
  add("python", one.about.python);
  add("holds", one.about.holds);
  // A fact may have two bounds, and a CPU several capabilities.
  std::vector<std::pair<std::string, std::string>> needs;
  for (const resolver::Atom& atom : one.holds.atoms) {
    const std::string rendered = resolver::render_atom(atom);
    if (!needs.empty() && needs.back().first == atom.fact) {
      needs.back().second += " and " + rendered;
    } else {
      needs.emplace_back(atom.fact, rendered);
    }
  }
  for (auto& [fact, text_of_it] : needs) add("requires." + fact, std::move(text_of_it));
  return text;
}

}  // namespace axle::session
