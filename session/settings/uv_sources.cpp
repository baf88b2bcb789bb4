#include "session/settings/uv_sources.h"

#include <algorithm>
#include <filesystem>

#include <fmt/core.h>

#include "index/http/url.h"
#include "resolver/request/source_url.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// The keys that together are one URL.
struct SourcePlace {
  std::string url;
  std::string revision;
  std::string subdirectory;

  void finish(PackageSource& source) {
    if (url.empty() || !source.unsupported.empty()) return;
    if (!revision.empty()) url.insert(std::min(url.find('#'), url.size()), "@" + revision);
    if (!subdirectory.empty()) {
      url += url.contains('#') ? '&' : '#';
      url += "subdirectory=" + index::percent_encode(subdirectory, true);
    }
    if (const auto named = resolver::parse_source_url(url); !named) {
      source.unsupported = "what cannot be fetched: " + named.error().message;
    } else {
      source.url = std::move(url);
    }
  }
};

struct SourceReader {
  const std::string& where;

  [[nodiscard]] std::string origin(const toml::node& node) const {
    return fmt::format("{}:{}", where, node.source().begin.line);
  }
  [[nodiscard]] std::unexpected<Error> bad(const toml::node& node, std::string why) const {
    return fail(ErrorKind::malformed, fmt::format("{}: {}", origin(node), why),
                "uv refuses it too: correct or remove it");
  }

  Result<PackageSource> read(std::string_view package, const toml::node& node) const {
    const toml::table* table = node.as_table();
    if (table == nullptr)
      return bad(node, fmt::format("the source of `{}` is not a table", package));
    PackageSource source;
    source.package = wheel::normalize_name(package);
    source.origin = origin(node);
    SourcePlace place;
    for (const auto& [key, value] : *table) {
      if (auto taken = take(source, place, key.str(), value); !taken)
        return std::unexpected(taken.error());
    }
    place.finish(source);
    // Those of a workspace are used where they are, unless that is said otherwise.
    if (source.member && !table->contains("editable")) source.editable = true;
    if (source.index.empty() && source.url.empty() && !source.member && source.unsupported.empty())
      return bad(node,
                 fmt::format("the source of `{}` has neither index nor url nor path", package));
    return source;
  }

  Result<void> take(PackageSource& source, SourcePlace& place, std::string_view key,
                    const toml::node& value) const {
    const auto text = value.value<std::string>();
    const bool is_revision = key == "rev" || key == "tag" || key == "branch";
    const bool wants_text = key == "index" || key == "url" || key == "path" || key == "git" ||
                            key == "marker" || key == "extra" || key == "group" ||
                            key == "subdirectory" || is_revision;
    // Keys about a repository or about building are only valid with one of those.
    const bool known =
        wants_text || key == "workspace" || key == "lfs" || key == "editable" || key == "package";
    if (!known)
      return bad(value,
                 fmt::format("`{}` is not a key of a source (of `{}`)", key, source.package));
    if (wants_text && !text)
      return bad(value,
                 fmt::format("`{}` of the source of `{}` is not a string", key, source.package));
    if (key == "index") source.index = *text;
    if (key == "marker") source.marker = *text;
    if (key == "extra") source.extra = *text;
    if (key == "group") source.group = *text;
    if (key == "git") place.url = (text->starts_with("git+") ? "" : "git+") + *text;
    if (key == "subdirectory") place.subdirectory = *text;
    if (is_revision) place.revision = *text;
    if (key == "editable") source.editable = value.value_or(false);
    if (key == "workspace") source.member = value.value_or(false);
    if (key == "package" && !value.value_or(true))
      source.unsupported = "a project that is no package (package = false)";
    if (key == "url") place.url = *text;
    if (key == "path") {
      const fs::path path = fs::path(where).parent_path() / *text;
      source.relative = fs::path(*text).is_relative();
      std::error_code ignored;
      place.url = index::file_url(fs::absolute(path, ignored).lexically_normal().string());
    }
    return {};
  }
};

}  // namespace

Result<std::vector<PackageSource>> read_uv_sources(const toml::table& table,
                                                   const std::string& where) {
  const SourceReader reader{where};
  std::vector<PackageSource> sources;
  for (const auto& [package, node] : table) {
    const toml::array* several = node.as_array();
    if (several == nullptr) {
      auto source = reader.read(package.str(), node);
      if (!source) return std::unexpected(source.error());
      sources.push_back(std::move(*source));
      continue;
    }
    for (const toml::node& element : *several) {
      auto source = reader.read(package.str(), element);
      if (!source) return std::unexpected(source.error());
      sources.push_back(std::move(*source));
    }
  }
  return sources;
}

}  // namespace axle::session
