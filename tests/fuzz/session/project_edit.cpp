// A pyproject.toml is changed, or refused with the file's name: what was added is there once, what
// was removed is not, and the project is read with its place in every error.
#include "session/projects/project_edit.h"

#include <cstdint>
#include <string>

#include "foundation/documents/toml_reader.h"
#include "session/projects/project.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle::session;
  using axle::fuzz::require;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto project = parse_project(text, "/pyproject.toml");
  if (!project) require(project.error().message.starts_with("/pyproject.toml"));
  for (const RequirementList& list :
       {RequirementList{}, RequirementList{RequirementList::Kind::extra, "fast"},
        RequirementList{RequirementList::Kind::group, "dev"}}) {
    ProjectEdit edit{"/pyproject.toml", text, text, {}};
    const auto added = add_requirement(edit, list, "fuzzed-name[x]>=1; os_name == 'posix'");
    if (!added) {
      require(added.error().message.starts_with("/pyproject.toml"));
      continue;
    }
    require(axle::documents::parse_toml(edit.new_text, "made").has_value());
    const auto removed = remove_requirement(edit, list, "Fuzzed.Name");
    if (!removed) {
      require(removed.error().message.starts_with("/pyproject.toml"));
      continue;
    }
    require(axle::documents::parse_toml(edit.new_text, "made").has_value());
    require(!remove_requirement(edit, list, "fuzzed-name"));
  }
  return 0;
}
