// pylock.CLASS.toml: PEP 751 as pip 26.3, uv 0.13.9 and packaging 26.3 read it. One class a file: a
// pylock cannot hold two builds of one package (docs/lock.md).
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/documents/toml_writer.h"
#include "index/http/url.h"
#include "session/projects/exports/class_export.h"
#include "session/projects/lock_file.h"
#include "wheel/version.h"

namespace axle::session {
namespace {

using documents::TomlWriter;

/// `url = "…", size = 1, hashes = { sha256 = "…" }`
std::string file_keys(const std::string& url, std::optional<std::uint64_t> size,
                      const std::string& sha256) {
  return fmt::format("url = {}, {}hashes = {{ sha256 = {} }}", TomlWriter::quoted(url),
                     size ? fmt::format("size = {}, ", *size) : std::string(),
                     TomlWriter::quoted(sha256));
}

std::string folder_path(const std::string& url) {
  const auto path = index::file_path(url);
  return path ? *path : url;
}

std::string optional_key(std::string_view key, const std::string& value) {
  return value.empty() ? std::string() : fmt::format(", {} = {}", key, TomlWriter::quoted(value));
}

void write_sources(TomlWriter& toml, const plan::LockedPackage& package,
                   const plan::BuiltFrom& from, const std::string& folder) {
  const std::string url = plan::absolute_place(from.url, folder);
  switch (from.kind) {
    case plan::BuiltFrom::Kind::file:
      if (package.source.empty()) {
        toml.raw("archive", fmt::format("{{ {}{} }}", file_keys(url, {}, from.sha256),
                                        optional_key("subdirectory", from.subdirectory)));
      } else {
        toml.raw("sdist", fmt::format("{{ name = {}, {} }}", TomlWriter::quoted(from.filename),
                                      file_keys(url, {}, from.sha256)));
      }
      break;
    case plan::BuiltFrom::Kind::folder:
      toml.raw("directory",
               fmt::format("{{ path = {}, editable = {}{} }}", TomlWriter::quoted(folder_path(url)),
                           from.editable, optional_key("subdirectory", from.subdirectory)));
      break;
    case plan::BuiltFrom::Kind::repository:
      toml.raw("vcs", fmt::format("{{ type = \"git\", url = {}{}, commit-id = {}{} }}",
                                  TomlWriter::quoted(from.url),
                                  optional_key("requested-revision", from.revision),
                                  TomlWriter::quoted(from.commit),
                                  optional_key("subdirectory", from.subdirectory)));
      break;
  }
}

void write_locked(TomlWriter& toml, const plan::LockedPackage& package, const std::string& folder) {
  toml.element("packages");
  toml.text("name", package.name);
  // Of a folder or a repository it may change without the lock.
  const bool fixed = !package.built_from || package.built_from->kind == plan::BuiltFrom::Kind::file;
  if (fixed) toml.text("version", wheel::render_version(package.version));
  const std::string source = plan::absolute_place(package.source, folder);
  if (index::is_http_url(source)) toml.text("index", source);
  if (package.built_from) return write_sources(toml, package, *package.built_from, folder);
  const std::string file =
      file_keys(plan::absolute_place(package.url, folder), package.size, package.sha256);
  if (package.source.empty()) {
    toml.raw("archive", fmt::format("{{ {} }}", file));
  } else {
    toml.raws("wheels",
              {fmt::format("{{ name = {}, {} }}", TomlWriter::quoted(package.filename), file)});
  }
}

}  // namespace

Result<std::string> render_pylock(const ClassExport& one, Report&) {
  if (auto plain = refuse_labels(one, "pylock"); !plain) return std::unexpected(plain.error());
  const std::string environment = environment_marker({one.about, one.holds});
  TomlWriter toml;
  toml.comment(describe_class(one));
  toml.text("lock-version", "1.0");
  if (!environment.empty()) toml.texts("environments", {environment});
  const std::string& releases = one.about.python_releases;
  toml.text("requires-python",
            fmt::format("=={}.*{}{}", one.about.python, releases.empty() ? "" : ",", releases));
  toml.text("created-by", "axle");
  if (one.packages.empty()) toml.raw("packages", "[]");
  for (const plan::ReachedPackage& reached : one.packages)
    write_locked(toml, *reached.package, one.folder);
  return toml.written();
}

}  // namespace axle::session
