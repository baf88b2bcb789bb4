// What a pyproject.toml has to say for uv to take the packages of a class from where the class has
// them: [tool.uv.sources] and [[tool.uv.index]].
#include <algorithm>
#include <cctype>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/documents/toml_writer.h"
#include "index/http/url.h"
#include "session/projects/exports/class_export.h"
#include "wheel/requirement.h"

namespace axle::session {
namespace {

using documents::TomlWriter;

/// "torch-cu130"; of another index its server: "wheels-example".
std::string index_name(const plan::LockedPackage& package, const std::string& source) {
  if (!package.family.empty())
    return wheel::normalize_name(fmt::format("{}-{}", package.family, *package.variant));
  const index::UrlParts parts = index::split_url(source);
  std::string name;
  for (const char c : std::string(parts.authority) + std::string(parts.path))
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  name.erase(name.find_last_not_of('-') + 1);
  name.erase(0, std::min(name.find_first_not_of('-'), name.size()));
  return wheel::normalize_name(name);
}

/// Whether an index has no other build of the package: uv takes the highest local version.
bool is_of_label(const plan::LockedPackage& package, const std::string& source) {
  if (!index::is_http_url(source) && !index::is_file_url(source)) return false;
  if (source.ends_with(".html")) return false;
  const std::string label = "/" + package.variant.value_or("") + "/";
  return package.family.empty() || (source + "/").contains(label);
}

/// The value of a source that is no index; empty: it is one.
std::string place_of(const plan::LockedPackage& package, const std::string& folder) {
  if (!package.built_from) {
    if (!package.source.empty() &&
        is_of_label(package, plan::absolute_place(package.source, folder)))
      return {};
    return fmt::format("{{ url = {} }}",
                       TomlWriter::quoted(plan::absolute_place(package.url, folder)));
  }
  const plan::BuiltFrom& from = *package.built_from;
  const std::string url = plan::absolute_place(from.url, folder);
  const std::string sub =
      from.subdirectory.empty()
          ? std::string()
          : fmt::format(", subdirectory = {}", TomlWriter::quoted(from.subdirectory));
  if (from.kind == plan::BuiltFrom::Kind::repository)
    return fmt::format("{{ git = {}, rev = {}{} }}", TomlWriter::quoted(from.url),
                       TomlWriter::quoted(from.commit), sub);
  if (from.kind == plan::BuiltFrom::Kind::file)
    return package.source.empty() ? fmt::format("{{ url = {}{} }}", TomlWriter::quoted(url), sub)
                                  : std::string();
  const std::string path = index::file_path(url).value_or(url);
  return fmt::format(
      "{{ path = {}{} }}",
      TomlWriter::quoted(from.subdirectory.empty() ? path
                                                   : fmt::format("{}/{}", path, from.subdirectory)),
      from.editable ? ", editable = true" : "");
}

}  // namespace

Result<std::string> render_uv_sources(const ClassExport& one, Report&) {
  const std::string main = main_index(one);
  std::map<std::string, std::string> sources;  // package -> value
  std::map<std::string, std::string> indexes;  // name -> URL
  std::vector<std::string> not_asked;
  for (const plan::ReachedPackage& reached : one.packages) {
    const plan::LockedPackage& package = *reached.package;
    std::string value = place_of(package, one.folder);
    const std::string source = plan::absolute_place(package.source, one.folder);
    if (value.empty()) {
      if (source == main) continue;
      std::string name = index_name(package, source);
      const auto [known, is_new] = indexes.emplace(name, source);
      if (!is_new && known->second != source) {
        name += "-" + package.name;
        indexes.emplace(name, source);
      }
      value = fmt::format("{{ index = {} }}", TomlWriter::quoted(name));
    }
    if (!reached.requested) not_asked.push_back(package.name);
    sources.emplace(package.name, std::move(value));
  }
  TomlWriter toml;
  toml.comment(describe_class(one) + "\nFor a pyproject.toml that uv reads.");
  if (sources.empty()) {
    toml.comment("All packages come from one index: there is nothing to say.");
    return toml.written();
  }
  if (!not_asked.empty()) {
    toml.comment(fmt::format(
        "uv follows a source only for the project's own dependencies. Add these to them: {}",
        fmt::join(not_asked, ", ")));
  }
  toml.table("tool.uv.sources");
  for (const auto& [name, value] : sources) toml.raw(name, value);
  for (const auto& [name, url] : indexes) {
    toml.element("tool.uv.index");
    toml.text("name", name);
    toml.text("url", url);
    toml.flag("explicit", true);
  }
  return toml.written();
}

}  // namespace axle::session
