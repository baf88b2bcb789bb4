// uv.lock: version 1 (crates/uv-lock of uv 0.13.9; revisions add keys and change none).
#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>

#include <fmt/core.h>

#include "foundation/documents/toml_reader.h"
#include "foundation/text/quote.h"
#include "session/projects/imported_project.h"
#include "session/projects/locked_versions.h"
#include "wheel/requirement.h"
#include "wheel/specifier.h"
#include "wheel/version.h"

namespace axle::session {

namespace {

using documents::TomlReading;
using documents::TomlTable;

constexpr std::int64_t known_version = 1;
constexpr std::string_view damaged = "let uv write it anew: `uv lock`";

struct UvPackage {
  std::string name;  ///< normalised
  std::string version;
  bool from_index = false;
  bool is_local = false;  ///< virtual, editable or a folder: a project itself
  bool is_root = false;   ///< the one in the lock's own folder
  std::set<std::string> needs;
  const toml::table* metadata = nullptr;
};

/// "git+https://host/x@rev" of "https://host/x?rev=rev#commit".
std::string git_url(std::string url) {
  url.resize(std::min(url.find('#'), url.size()));
  const std::size_t query = url.find('?');
  std::string revision;
  if (query != std::string::npos) {
    const std::string said = url.substr(query + 1);
    url.resize(query);
    for (const std::string_view key : {"rev=", "tag=", "branch="})
      if (said.starts_with(key)) revision = "@" + said.substr(key.size());
  }
  return "git+" + url + revision;
}

class UvLockReader {
 public:
  UvLockReader(const toml::table& document, const std::string& where)
      : document_(document), where_(where), reading_(where) {}

  Result<ImportedProject> read() {
    TomlTable root(document_, "", reading_);
    check_version(root);
    if (reading_.error()) return std::unexpected(*reading_.error());
    imported_.requires_python = root.text("requires-python").value_or("");
    for (TomlTable& table : root.tables("package")) take_package(table);
    if (reading_.error()) return std::unexpected(*reading_.error());
    const UvPackage* project = find_project();
    if (project == nullptr) return std::unexpected(*reading_.error());
    imported_.name = project->name;
    if (project->metadata != nullptr) take_metadata(*project->metadata);
    if (reading_.error()) return std::unexpected(*reading_.error());
    finish(project->name);
    return std::move(imported_);
  }

 private:
  void check_version(TomlTable& root) {
    const toml::node* version = root.find("version");
    if (version == nullptr || !version->is_integer())
      return root.refuse("version", version == nullptr ? "the key is missing" : "expected a number",
                         std::string(damaged));
    if (version->as_integer()->get() != known_version)
      root.refuse("version",
                  fmt::format("version {} is not known, only {}", version->as_integer()->get(),
                              known_version),
                  "a newer version of Axle may read it", ErrorKind::unsupported);
  }

  void take_needs(TomlTable& table, std::string_view key, UvPackage& package) {
    for (TomlTable& need : table.tables(key))
      package.needs.insert(wheel::normalize_name(need.required_text("name")));
  }

  void take_package(TomlTable& table) {
    UvPackage package;
    package.name = wheel::normalize_name(table.required_text("name"));
    package.version = table.text("version").value_or("");
    if (!package.version.empty() && !wheel::parse_version(package.version))
      table.refuse("version", fmt::format("{} is not a version", text::quote(package.version)),
                   std::string(damaged));
    if (auto source = table.table("source")) {
      package.from_index = source->find("registry") != nullptr;
      for (const std::string_view key : {"virtual", "editable", "directory"}) {
        const auto folder = source->text(key);
        if (!folder) continue;
        package.is_local = true;
        package.is_root = *folder == ".";
      }
    }
    take_needs(table, "dependencies", package);
    for (const std::string_view key : {"optional-dependencies", "dev-dependencies"}) {
      auto lists = table.table(key);
      if (!lists) continue;
      for (const auto& [name, node] : lists->node()) take_needs(*lists, name.str(), package);
    }
    const toml::node* metadata = table.find("metadata");
    package.metadata = metadata == nullptr ? nullptr : metadata->as_table();
    packages_.push_back(std::move(package));
  }

  /// The one at the root, else the only one that is a project.
  const UvPackage* find_project() {
    const UvPackage* local = nullptr;
    std::size_t locals = 0;
    for (const UvPackage& package : packages_) {
      if (package.is_root) return &package;
      if (!package.is_local) continue;
      local = &package;
      ++locals;
    }
    if (locals == 1) return local;
    reading_.refuse({ErrorKind::malformed,
                     fmt::format("{}: of its {} packages {} are projects, and none is that of its "
                                 "own folder",
                                 where_, packages_.size(), locals),
                     "name the requirements of one with `variant add`"});
    return nullptr;
  }

  /// "NAME[EXTRAS]SPECIFIER", or "NAME @ URL"; nullopt: it is remarked that it is not taken.
  std::optional<std::string> requirement_of(TomlTable& entry) {
    std::string text = entry.required_text("name");
    const std::vector<std::string> extras = entry.texts("extras");
    for (std::size_t i = 0; i < extras.size(); ++i)
      text +=
          fmt::format("{}{}{}", i == 0 ? "[" : ",", extras[i], i + 1 == extras.size() ? "]" : "");
    if (const auto url = entry.text("url")) return text + " @ " + *url;
    if (const auto git = entry.text("git")) return text + " @ " + git_url(*git);
    for (const std::string_view key : {"path", "directory", "editable", "virtual", "workspace"}) {
      if (entry.find(key) == nullptr) continue;
      imported_.warn(fmt::format("{}: {} is not taken: it is a folder or file of the project",
                                 reading_.place(entry.node()), text),
                     "its source in [tool.uv.sources] says where it is: add its name by hand");
      return std::nullopt;
    }
    const std::string specifier = entry.text("specifier").value_or("");
    if (const auto valid = wheel::parse_specifiers(specifier); !valid)
      entry.refuse("specifier", valid.error().message, std::string(damaged));
    return text + specifier;
  }

  /// `marker` without "extra == 'x'", which ends it or is all of it, and that extra.
  static std::string take_extra(std::string& marker) {
    constexpr std::string_view start = "extra == '";
    const std::size_t at = marker.rfind(start);
    if (at == std::string::npos || !marker.ends_with('\'')) return {};
    std::string extra = marker.substr(at + start.size());
    extra.pop_back();
    if (extra.contains('\'')) return {};
    constexpr std::string_view joint = " and ";
    if (at != 0 && !marker.substr(0, at).ends_with(joint)) return {};
    marker.resize(at == 0 ? 0 : at - joint.size());
    return extra;
  }

  void take_requirement(TomlTable& entry, const std::string& group) {
    auto text = requirement_of(entry);
    if (!text || reading_.error()) return;
    std::string marker = entry.text("marker").value_or("");
    const std::string extra = take_extra(marker);
    if (!marker.empty()) *text += " ; " + marker;
    auto requirement = wheel::parse_requirement(*text);
    if (!requirement) {
      return reading_.refuse({ErrorKind::malformed,
                              fmt::format("{}: {}: {}", reading_.place(entry.node()),
                                          text::quote(*text), requirement.error().message),
                              std::string(damaged)});
    }
    std::vector<std::string>& into = !group.empty()  ? imported_.groups[group]
                                     : extra.empty() ? imported_.dependencies
                                                     : imported_.extras[extra];
    into.push_back(wheel::render_requirement(*requirement));
  }

  void take_metadata(const toml::table& node) {
    TomlTable metadata(node, "package.metadata", reading_);
    for (TomlTable& entry : metadata.tables("requires-dist")) take_requirement(entry, {});
    auto groups = metadata.table("requires-dev");
    if (!groups) return;
    for (const auto& [name, list] : groups->node()) {
      const std::string group(name.str());
      imported_.groups[group];
      for (TomlTable& entry : groups->tables(group)) take_requirement(entry, group);
    }
  }

  /// The pins of what the project reaches.
  void finish(const std::string& project) {
    std::set<std::string> reached = {project};
    for (bool more = true; more;) {
      const std::size_t before = reached.size();
      for (const UvPackage& package : packages_)
        if (reached.contains(package.name))
          reached.insert(package.needs.begin(), package.needs.end());
      more = reached.size() > before;
    }
    for (const UvPackage& package : packages_) {
      if (package.from_index && reached.contains(package.name))
        (void)add_pin(package.name, package.version, imported_.pins);
    }
  }

  const toml::table& document_;
  const std::string& where_;
  TomlReading reading_;
  std::vector<UvPackage> packages_;
  ImportedProject imported_;
};

}  // namespace

Result<ImportedProject> parse_uv_lock(std::string_view text, const std::string& where) {
  const auto document = documents::parse_toml(text, where);
  if (!document) return std::unexpected(document.error());
  return UvLockReader(*document, where).read();
}

}  // namespace axle::session
