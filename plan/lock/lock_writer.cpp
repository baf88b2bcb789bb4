#include <string>

#include "foundation/documents/toml_writer.h"
#include "plan/lock/lock.h"

namespace axle::plan {
namespace {

using documents::TomlWriter;
using RequirementLists = std::map<std::string, std::vector<std::string>, std::less<>>;

void write_lists(TomlWriter& toml, std::string_view path, const RequirementLists& lists) {
  if (lists.empty()) return;
  toml.table(path);
  for (const auto& [name, requirements] : lists) toml.texts(name, requirements);
}

void write_texts_if_any(TomlWriter& toml, std::string_view key,
                        const std::vector<std::string>& texts) {
  if (!texts.empty()) toml.texts(key, texts);
}

void write_properties(TomlWriter& toml, std::string_view key,
                      const wheel::VariantProperties& properties) {
  std::vector<std::string> texts;
  for (const wheel::Property& property : properties)
    texts.push_back(wheel::render_property(property));
  toml.texts(key, texts);
}

std::string_view render_built_kind(BuiltFrom::Kind kind) {
  switch (kind) {
    case BuiltFrom::Kind::file:
      return "file";
    case BuiltFrom::Kind::folder:
      return "folder";
    case BuiltFrom::Kind::repository:
      return "repository";
  }
  return {};
}

void write_built_from(TomlWriter& toml, const BuiltFrom& from) {
  toml.table("package.built-from");
  toml.text("kind", render_built_kind(from.kind));
  toml.text("name", from.filename);
  toml.text("url", from.url);
  toml.text_if_any("sha256", from.sha256);
  toml.text_if_any("subdirectory", from.subdirectory);
  toml.text_if_any("revision", from.revision);
  toml.text_if_any("commit", from.commit);
  if (from.editable) toml.flag("editable", true);
}

void write_package(TomlWriter& toml, const LockedPackage& package, std::size_t all_classes) {
  toml.element("package");
  toml.text("name", package.name);
  toml.text("version", wheel::render_version(package.version));
  if (package.classes.size() != all_classes) toml.texts("classes", package.classes);
  toml.text_if_any("family", package.family);
  if (package.variant) toml.text("variant", *package.variant);
  if (!package.properties.empty()) write_properties(toml, "properties", package.properties);
  if (package.supported != package.properties)
    write_properties(toml, "supported", package.supported);
  toml.text_if_any("because", package.because);
  toml.text_if_any("source", package.source);
  toml.text_if_any("wheel", package.filename);
  toml.text_if_any("url", package.url);
  toml.text_if_any("sha256", package.sha256);
  if (package.size) toml.number("size", *package.size);
  toml.text_if_any("provenance", package.provenance);
  write_texts_if_any(toml, "publishers", package.publishers);
  write_texts_if_any(toml, "stands-for", package.stands_for);
  write_texts_if_any(toml, "needs", package.needs.always);
  write_lists(toml, "package.extras", package.needs.extras);
  if (package.built_from) write_built_from(toml, *package.built_from);
}

}  // namespace

std::string render_lock(const Lock& lock) {
  TomlWriter toml;
  toml.comment(
      "What the environments of this project hold, on each class of machines. Do not edit it:\n"
      "`variant lock` writes it, `variant sync` installs what it says. Keep it in version "
      "control.");
  toml.number("schema", static_cast<std::uint64_t>(lock_schema));
  toml.text("made-by", lock.made_by);
  toml.text_if_any("requires-python", lock.requires_python);
  toml.text("inputs", lock.inputs);
  toml.table("requests");
  toml.texts("project", lock.requests.project);
  write_lists(toml, "requests.extras", lock.requests.extras);
  write_lists(toml, "requests.groups", lock.requests.groups);
  for (const LockedClass& one : lock.classes) {
    toml.element("class");
    toml.text("name", one.name);
    toml.text("machine", one.machine);
    toml.text("python", one.python);
    toml.text_if_any("python-releases", one.python_releases);
    toml.text("holds", one.holds);
  }
  for (const LockedPackage& package : lock.packages)
    write_package(toml, package, lock.classes.size());
  return toml.written();
}

}  // namespace axle::plan
