#include "session/projects/new_project.h"

#include "foundation/documents/toml_writer.h"
#include "foundation/text/ascii.h"

namespace axle::session {

std::string render_new_project(const NewProject& project) {
  documents::TomlWriter writer;
  writer.table("project");
  writer.text("name", project.name);
  writer.text("version", "0.1.0");
  writer.text_if_any("requires-python", project.requires_python);
  writer.texts("dependencies", {});
  if (project.classes.empty()) return writer.written();
  writer.table("tool.axle.machines");
  for (const MachineClass& one : project.classes) writer.text(one.name, one.machine);
  return writer.written();
}

std::string name_for_folder(std::string_view folder) {
  std::string name;
  for (const char c : folder) {
    if (text::is_ascii_alnum(c)) {
      name += text::ascii_lower(c);
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  while (name.ends_with('-')) name.pop_back();
  return name;
}

}  // namespace axle::session
