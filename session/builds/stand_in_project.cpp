#include "session/builds/stand_in_project.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "foundation/documents/toml_reader.h"
#include "foundation/documents/toml_writer.h"
#include "foundation/text/quote.h"
#include "foundation/text/utf8.h"
#include "installer/file_access.h"
#include "session/builds/metadata_wheel.h"

namespace axle::session {

namespace {

constexpr const char* opening = R"python(
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
)python";

// What pip and uv call of PEP 517 calls what PEP 660 has in its place.
constexpr const char* editable_hooks = R"python(
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

// A backend need not prepare metadata: then its wheel says what they are. One of before PEP 517
// ("__legacy__") is setuptools' own, which does.
constexpr const char* metadata_hooks = R"python(
def get_requires_for_build_wheel(config_settings=None):
    hook = getattr(backend, "get_requires_for_build_" + told["product"], None)
    return hook(config_settings) if hook else []

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    import glob, tempfile, zipfile
    with tempfile.TemporaryDirectory() as scratch:
        prepare = getattr(backend, "prepare_metadata_for_build_" + told["product"], None)
        if prepare:
            prepared = prepare(scratch, config_settings)
            with open(os.path.join(scratch, prepared, "METADATA"), "rb") as file:
                metadata = file.read()
        else:
            getattr(backend, "build_" + told["product"])(scratch, config_settings)
            with zipfile.ZipFile(glob.glob(os.path.join(scratch, "*.whl"))[0]) as wheel:
                metadata = wheel.read(next(
                    name for name in wheel.namelist()
                    if name.count("/") == 1 and name.endswith(".dist-info/METADATA")))
    return write_metadata_wheel(wheel_directory, metadata)
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

Result<void> write_stand_in(StandIn kind, const std::string& project, const std::string& folder) {
  if (!text::is_valid_utf8(project))
    return fail(ErrorKind::malformed,
                fmt::format("{}: a project is not built in a folder whose path is not UTF-8",
                            text::quote(project)));
  const auto system = read_build_system(project);
  if (!system) return std::unexpected(system.error());
  const nlohmann::json told = {{"project", project},
                               {"backend", system->backend},
                               {"backend_path", system->backend_path},
                               {"product", kind == StandIn::metadata ? "wheel" : "editable"}};
  std::string requirements;
  for (const std::string& one : system->requirements)
    requirements += documents::TomlWriter::quoted(one) + ", ";
  const std::string pyproject = fmt::format(
      "[build-system]\nrequires = [{}]\nbuild-backend = \"axle_stand_in\"\n"
      "backend-path = [\".\"]\n",
      requirements);
  const std::string backend =
      kind == StandIn::editable
          ? fmt::format("{}{}", opening, editable_hooks)
          : fmt::format("{}{}{}", opening, metadata_wheel_script, metadata_hooks);
  const std::pair<const char*, std::string> files[] = {{"/pyproject.toml", pyproject},
                                                       {"/project.json", told.dump()},
                                                       {"/axle_stand_in.py", backend}};
  for (const auto& [name, content] : files) {
    if (auto written = installer::create_file(AT_FDCWD, folder + name, content, false); !written)
      return std::unexpected(std::move(written).error());
  }
  return {};
}

}  // namespace axle::session
