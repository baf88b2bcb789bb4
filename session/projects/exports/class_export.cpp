#include "session/projects/exports/class_export.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "index/http/url.h"
#include "session/projects/class_choice.h"
#include "wheel/version.h"

namespace axle::session {
namespace {

constexpr ExportFormat formats[] = {
    {"requirements", "requirements", "txt", render_requirements},
    {"pylock", "pylock", "toml", render_pylock},
    {"uv-sources", "uv-sources", "toml", render_uv_sources},
    {"conda", "environment", "yml", render_conda},
    {"node-affinity", "node-affinity", "yaml", render_node_affinity},
    {"slurm", "slurm", "sh", render_slurm},
    {"oci", "oci", "labels", render_oci},
};

/// Whether a package can be asked for by name there: neither a folder nor a page with links.
bool is_index(const std::string& source) {
  return (index::is_http_url(source) || index::is_file_url(source)) && !source.contains('?') &&
         !source.ends_with(".html");
}

std::string source_of(const plan::LockedPackage& package, const std::string& folder) {
  return package.source.starts_with('/') ? std::string()
                                         : plan::absolute_place(package.source, folder);
}

}  // namespace

std::string ExportFormat::file_name(std::string_view class_name) const {
  return fmt::format("{}.{}.{}", begin, class_name, end);
}

std::span<const ExportFormat> export_formats() { return formats; }

const ExportFormat* find_export_format(std::string_view name) {
  const auto* const found = std::ranges::find(formats, name, &ExportFormat::name);
  return found == std::end(formats) ? nullptr : found;
}

std::string describe_class(const ClassExport& one) {
  const bool any = one.holds.atoms.empty();
  return fmt::format("Class {} of {}: {}, Python {}.\nFor {}{}.", one.about.name,
                     plan::lock_filename, one.about.machine, render_python(one.about),
                     any ? "" : "machines with ", one.about.holds);
}

Result<void> refuse_labels(const ClassExport& one, std::string_view format) {
  std::vector<std::string_view> files;
  for (const plan::ReachedPackage& reached : one.packages) {
    const plan::LockedPackage& package = *reached.package;
    if (package.variant && package.family.empty() && !package.built_from)
      files.push_back(package.filename);
  }
  if (files.empty()) return {};
  return fail(ErrorKind::unsupported,
              fmt::format("class {} cannot be exported as {}: pip, uv and conda do not read the "
                          "label in the name of {}",
                          one.about.name, format, fmt::join(files, ", ")),
              "`variant sync` installs such wheels; other tools can have plain ones, locked with "
              "--no-variants");
}

std::string main_index(const ClassExport& one) {
  std::map<std::string, std::size_t, std::less<>> counts;
  for (const plan::ReachedPackage& reached : one.packages) {
    const std::string source = source_of(*reached.package, one.folder);
    if (reached.package->family.empty() && is_index(source)) ++counts[source];
  }
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& entry) { return entry.second; });
  return most == counts.end() ? std::string() : most->first;
}

RequirementLines requirement_lines(const ClassExport& one) {
  const std::string main = main_index(one);
  RequirementLines lines;
  for (const plan::ReachedPackage& reached : one.packages) {
    const plan::LockedPackage& package = *reached.package;
    const plan::BuiltFrom* const from = package.built_from ? &*package.built_from : nullptr;
    const std::string url = plan::absolute_place(from ? from->url : package.url, one.folder);
    if (from != nullptr && from->kind != plan::BuiltFrom::Kind::file) {
      std::string place = from->kind == plan::BuiltFrom::Kind::repository
                              ? fmt::format("git+{}@{}", from->url, from->commit)
                              : url;
      if (!from->subdirectory.empty()) place += "#subdirectory=" + from->subdirectory;
      lines.without.push_back(from->editable ? fmt::format("-e {}", place)
                                             : fmt::format("{} @ {}", package.name, place));
      continue;
    }
    const bool by_name =
        !package.source.empty() && !main.empty() && source_of(package, one.folder) == main;
    const std::string what =
        by_name ? fmt::format("{}=={}", package.name, wheel::render_version(package.version))
                : fmt::format("{} @ {}{}", package.name, url,
                              from != nullptr && !from->subdirectory.empty()
                                  ? "#subdirectory=" + from->subdirectory
                                  : "");
    lines.lines.push_back(
        fmt::format("{} --hash=sha256:{}", what, from ? from->sha256 : package.sha256));
  }
  return lines;
}

}  // namespace axle::session
