#include "session/settings/uv_sources.h"

#include <filesystem>

#include <fmt/core.h>

#include "wheel/requirement.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

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
    for (const auto& [key, value] : *table) {
      if (auto taken = take(source, key.str(), value); !taken)
        return std::unexpected(taken.error());
    }
    if (source.index.empty() && source.url.empty() && source.unsupported.empty())
      return bad(node,
                 fmt::format("the source of `{}` has neither index nor url nor path", package));
    return source;
  }

  Result<void> take(PackageSource& source, std::string_view key, const toml::node& value) const {
    const auto text = value.value<std::string>();
    const bool wants_text = key == "index" || key == "url" || key == "path" || key == "git" ||
                            key == "marker" || key == "extra" || key == "group";
    // Keys about a repository or about building are only valid with one of those.
    const bool known = wants_text || key == "workspace" || key == "subdirectory" || key == "rev" ||
                       key == "tag" || key == "branch" || key == "lfs" || key == "editable" ||
                       key == "package";
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
    if (key == "git") source.unsupported = "a repository, which pip or uv must build";
    if (key == "workspace") source.unsupported = "a project of the workspace, which uv must build";
    if (key == "url") take_place(source, *text);
    if (key == "path") {
      const fs::path path = fs::path(where).parent_path() / *text;
      std::error_code ignored;
      take_place(source, "file://" + fs::absolute(path, ignored).lexically_normal().string());
    }
    return {};
  }

  static void take_place(PackageSource& source, std::string url) {
    if (url.substr(0, url.find_first_of("#?")).ends_with(".whl")) {
      source.url = std::move(url);
    } else {
      source.unsupported = "not a wheel: pip or uv must build it";
    }
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
