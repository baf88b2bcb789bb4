#include "session/builds/editable_project.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "foundation/documents/toml_reader.h"
#include "installer/file_access.h"

namespace axle::session {

namespace {

// What pip and uv call of PEP 517 calls what PEP 660 has in its place.
constexpr const char* backend = R"python(
import importlib, json, os, sys

here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "project.json"), encoding="utf-8") as file:
    told = json.load(file)
os.chdir(told["project"])
sys.path[:] = [os.path.join(told["project"], path) for path in told["backend_path"]] + [
    path for path in sys.path if os.path.abspath(path) != here]
module, _, attributes = told["backend"].partition(":")
backend = importlib.import_module(module)
for attribute in filter(None, attributes.split(".")):
    backend = getattr(backend, attribute)
if not hasattr(backend, "build_editable"):
    sys.exit("the build backend %s makes no editable wheels (PEP 660)" % told["backend"])

def get_requires_for_build_wheel(config_settings=None):
    hook = getattr(backend, "get_requires_for_build_editable", None)
    return hook(config_settings) if hook else []

if hasattr(backend, "prepare_metadata_for_build_editable"):
    def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
        return backend.prepare_metadata_for_build_editable(metadata_directory, config_settings)

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return backend.build_editable(wheel_directory, config_settings, metadata_directory)
)python";

/// [build-system], with what PEP 517 and PEP 518 have where nothing is said.
struct BuildSystem {
  std::vector<std::string> requirements = {"setuptools >= 40.8.0"};
  std::string backend = "setuptools.build_meta:__legacy__";
  std::vector<std::string> backend_path;
};

Result<BuildSystem> read_build_system(const std::string& project) {
  BuildSystem system;
  const std::string file = project + "/pyproject.toml";
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return system;
  constexpr std::size_t longest_file = 16U << 20;
  const auto text = installer::read_file(file, longest_file);
  if (!text) return std::unexpected(text.error());
  const auto document = documents::parse_toml(*text, file);
  if (!document) return std::unexpected(document.error());
  const toml::table* stated = (*document)["build-system"].as_table();
  if (stated == nullptr) return system;
  documents::TomlReading reading(file);
  documents::TomlTable table(*stated, "build-system", reading);
  system.requirements = table.texts("requires");
  if (auto name = table.text("build-backend")) system.backend = std::move(*name);
  system.backend_path = table.texts("backend-path");
  if (reading.error()) return std::unexpected(*reading.error());
  return system;
}

}  // namespace

Result<void> write_editable_project(const std::string& project, const std::string& folder) {
  const auto system = read_build_system(project);
  if (!system) return std::unexpected(system.error());
  const nlohmann::json told = {
      {"project", project}, {"backend", system->backend}, {"backend_path", system->backend_path}};
  // Strings are written alike in JSON and TOML.
  const std::string pyproject = fmt::format(
      "[build-system]\nrequires = {}\nbuild-backend = \"axle_editable\"\nbackend-path = [\".\"]\n",
      nlohmann::json(system->requirements).dump());
  const std::pair<const char*, std::string> files[] = {{"/pyproject.toml", pyproject},
                                                       {"/project.json", told.dump()},
                                                       {"/axle_editable.py", backend}};
  for (const auto& [name, content] : files) {
    if (auto written = installer::create_file(AT_FDCWD, folder + name, content, false); !written)
      return std::unexpected(std::move(written).error());
  }
  return {};
}

}  // namespace axle::session
