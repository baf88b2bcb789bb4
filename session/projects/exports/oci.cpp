// Labels of a container image, a line each as `docker --label-file` and `podman --label-file` take
// them: on which machines what is in it runs.
#include <algorithm>
#include <string>

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
  for (const machines::Atom& atom : one.holds.atoms) {
    std::string key = "requires." + atom.fact;
    for (char& c : key)
      if (c == ' ' || c == ':') c = '-';
    add(key, render_atom(atom));
  }
  return text;
}

}  // namespace axle::session
