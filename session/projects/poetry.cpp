// poetry.lock, and [tool.poetry] of a pyproject.toml (python-poetry.org, "The pyproject.toml file",
// "Dependency specification").
#include <algorithm>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/documents/toml_reader.h"
#include "foundation/text/quote.h"
#include "session/projects/imported_project.h"
#include "session/projects/locked_versions.h"
#include "wheel/requirement.h"
#include "wheel/specifier.h"

namespace axle::session {

namespace {

using documents::TomlReading;
using documents::TomlTable;

/// `>=2,<3.11` as a marker.
std::string python_marker(const wheel::SpecifierSet& allowed) {
  std::vector<std::string> clauses;
  for (const wheel::Specifier& one : allowed.specifiers) {
    const bool minor = !one.wildcard && one.version.release.size() <= 2;
    wheel::SpecifierSet alone;
    alone.specifiers.push_back(one);
    const std::string text = wheel::render_specifiers(alone);
    const std::size_t version = std::min(text.find_first_not_of("=<>!~"), text.size());
    clauses.push_back(fmt::format("{} {} '{}'", minor ? "python_version" : "python_full_version",
                                  text.substr(0, version), text.substr(version)));
  }
  return fmt::format("{}", fmt::join(clauses, " and "));
}

/// One entry of a table of dependencies.
struct PoetryDependency {
  std::string requirement;
  bool optional = false;
};

class PoetryReader {
 public:
  PoetryReader(const toml::table& document, const std::string& where)
      : document_(document), reading_(where) {}

  Result<ImportedProject> read() {
    TomlTable root(document_, "", reading_);
    auto tool = root.table("tool");
    auto poetry = tool ? tool->table("poetry") : std::nullopt;
    if (!poetry && !reading_.error()) {
      return fail(ErrorKind::malformed,
                  fmt::format("{}: it has no table [tool.poetry]", reading_.where()),
                  "a project of PEP 621 is one of Axle's already: `variant lock`");
    }
    if (poetry) take_project(*poetry);
    if (reading_.error()) return std::unexpected(*reading_.error());
    return std::move(imported_);
  }

 private:
  void take_project(TomlTable& poetry) {
    imported_.name = poetry.text("name").value_or("");
    for (TomlTable& source : poetry.tables("source")) warn_of_source(source);
    if (auto table = poetry.table("dependencies")) take_dependencies(*table);
    if (auto extras = poetry.table("extras")) take_extras(*extras);
    for (const auto& [name, requirement] : optional_) {
      if (taken_.contains(name)) continue;
      imported_.warn(fmt::format("{}: {} is optional, and no extra has it", reading_.where(), name),
                     "add it to an extra: `variant add --extra NAME`");
    }
    if (auto table = poetry.table("dev-dependencies")) take_group(*table, "dev");
    auto groups = poetry.table("group");
    if (!groups) return;
    for (const auto& [name, node] : groups->node()) {
      auto group = groups->table(name.str());
      if (!group) return;
      if (auto table = group->table("dependencies")) take_group(*table, std::string(name.str()));
    }
  }

  /// One that only some packages are from is remarked with them.
  void warn_of_source(TomlTable& source) {
    if (!source.text("url") || source.text("priority").value_or("") == "explicit") return;
    imported_.warn(fmt::format("{}: the source {}, which is for all packages, is not taken",
                               reading_.place(source.node()), source.text("name").value_or("")),
                   "declare it as [[tool.uv.index]]");
  }

  void take_dependencies(TomlTable& table) {
    for (const auto& [key, node] : table.node()) {
      const std::string name(key.str());
      if (name == "python") {
        imported_.requires_python = specifiers_of(table, name, table.text(name).value_or(""));
        continue;
      }
      for (PoetryDependency& one : read_dependency(table, name)) {
        if (one.optional) {
          optional_[wheel::normalize_name(name)].push_back(std::move(one.requirement));
        } else {
          imported_.dependencies.push_back(std::move(one.requirement));
        }
      }
    }
  }

  void take_extras(TomlTable& extras) {
    for (const auto& [key, node] : extras.node()) {
      std::vector<std::string>& into = imported_.extras[std::string(key.str())];
      for (const std::string& text : extras.texts(key.str())) {
        const std::string name = wheel::normalize_name(text.substr(0, text.find_first_of(" [(")));
        if (!wheel::is_valid_name(name)) {
          return extras.refuse(
              key.str(), fmt::format("{} is not a valid name of a package", text::quote(text)));
        }
        const auto found = optional_.find(name);
        if (found == optional_.end()) {
          into.push_back(name);
          continue;
        }
        taken_.insert(name);
        std::ranges::copy(found->second, std::back_inserter(into));
      }
    }
  }

  void take_group(TomlTable& table, const std::string& group) {
    std::vector<std::string>& into = imported_.groups[group];
    for (const auto& [key, node] : table.node())
      for (PoetryDependency& one : read_dependency(table, std::string(key.str())))
        into.push_back(std::move(one.requirement));
  }

  std::string specifiers_of(TomlTable& table, std::string_view key, const std::string& constraint) {
    auto made = poetry_specifiers(constraint);
    if (made) return *std::move(made);
    table.refuse(key, made.error().message, made.error().hint);
    return {};
  }

  /// A string, a table, or several tables for several platforms.
  std::vector<PoetryDependency> read_dependency(TomlTable& table, const std::string& name) {
    const toml::node* node = table.find(name);
    if (!wheel::is_valid_name(name)) {
      table.refuse(name, "it is not a valid name of a package");
      return {};
    }
    if (node->is_string())
      return one_dependency(name, name + specifiers_of(table, name, *table.text(name)), {}, false);
    if (node->is_array()) {
      std::vector<PoetryDependency> all;
      for (TomlTable& one : table.tables(name))
        std::ranges::move(read_table(one, name), std::back_inserter(all));
      return all;
    }
    auto one = table.table(name);
    return one ? read_table(*one, name) : std::vector<PoetryDependency>();
  }

  std::vector<PoetryDependency> one_dependency(const std::string& name, std::string text,
                                               const std::vector<std::string>& markers,
                                               bool optional) {
    if (reading_.error()) return {};
    if (!markers.empty()) text += fmt::format(" ; {}", fmt::join(markers, " and "));
    auto requirement = wheel::parse_requirement(text);
    if (!requirement) {
      reading_.refuse(
          {ErrorKind::malformed,
           fmt::format("{}: {}: {}", reading_.where(), name, requirement.error().message),
           "correct it"});
      return {};
    }
    return {{wheel::render_requirement(*requirement), optional}};
  }

  /// What stands behind the name: extras and version, or a URL; nullopt: it is not taken.
  std::optional<std::string> tail_of(TomlTable& table, const std::string& name) {
    std::string tail;
    if (const auto extras = table.texts("extras"); !extras.empty())
      tail = fmt::format("[{}]", fmt::join(extras, ","));
    if (const auto url = table.text("url")) return tail + " @ " + *url;
    if (auto git = table.text("git")) {
      // As git has it: "git@host:path".
      const std::size_t colon = git->find(':');
      if (git->starts_with("git@") && colon != std::string::npos)
        *git = "ssh://" + git->replace(colon, 1, "/");
      std::string revision;
      for (const std::string_view key : {"rev", "tag", "branch"})
        if (const auto said = table.text(key)) revision = "@" + *said;
      return fmt::format("{} @ git+{}{}", tail, *git, revision);
    }
    if (table.find("path") != nullptr) {
      imported_.warn(fmt::format("{}: {} is not taken: it is a folder or file of the project",
                                 reading_.place(table.node()), name),
                     "add it by hand, with its source in [tool.uv.sources]");
      return std::nullopt;
    }
    return tail + specifiers_of(table, "version", table.text("version").value_or("*"));
  }

  std::vector<PoetryDependency> read_table(TomlTable& table, const std::string& name) {
    const auto tail = tail_of(table, name);
    if (!tail) return {};
    std::vector<std::string> markers;
    if (const auto python = table.text("python")) {
      const auto allowed = wheel::parse_specifiers(specifiers_of(table, "python", *python));
      if (allowed && !allowed->empty()) markers.push_back(python_marker(*allowed));
    }
    if (const auto platform = table.text("platform"))
      markers.push_back(fmt::format("sys_platform == '{}'", *platform));
    if (const auto stated = table.text("markers")) markers.push_back(fmt::format("({})", *stated));
    if (const auto source = table.text("source")) {
      imported_.warn(fmt::format("{}: the source {} of {} is not taken",
                                 reading_.place(table.node()), *source, name),
                     "declare it as [[tool.uv.index]], and name it in [tool.uv.sources]");
    }
    return one_dependency(name, name + *tail, markers, table.flag("optional").value_or(false));
  }

  const toml::table& document_;
  TomlReading reading_;
  ImportedProject imported_;
  std::map<std::string, std::vector<std::string>> optional_;  ///< by normalised name
  std::set<std::string> taken_;                               ///< of these, by an extra
};

/// The version after the one that `size` numbers of `version` name: 1.2.3 and 2 are 1.3.
std::string next_after(const wheel::Version& version, std::size_t size) {
  std::vector<std::string> numbers;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t number = i < version.release.size() ? version.release[i] : 0;
    numbers.push_back(fmt::format("{}", number + (i + 1 == size ? 1 : 0)));
  }
  const std::string epoch = version.epoch == 0 ? "" : fmt::format("{}!", version.epoch);
  return fmt::format("{}{}", epoch, fmt::join(numbers, "."));
}

/// How many numbers a caret keeps: up to the first that is not zero.
std::size_t kept_by_caret(const wheel::Version& version) {
  for (std::size_t i = 0; i < version.release.size(); ++i)
    if (version.release[i] != 0) return i + 1;
  return version.release.size();
}

/// "^1.2", "~1.2", "1.2", "1.2.*", ">=1.2".
Result<std::string> one_clause(const std::string& clause) {
  const auto unknown = [&] {
    return fail(ErrorKind::malformed,
                fmt::format("{} is not a constraint of poetry's", text::quote(clause)),
                "for example ^1.2, ~1.2, >=1.2,<2, 1.2.* or *");
  };
  const bool caret = clause.starts_with('^');
  const bool tilde = clause.starts_with('~') && !clause.starts_with("~=");
  if (caret || tilde) {
    const auto version = wheel::parse_version(std::string_view(clause).substr(1));
    if (!version) return unknown();
    const std::size_t size =
        caret ? kept_by_caret(*version) : std::min<std::size_t>(version->release.size(), 2);
    return fmt::format(">={},<{}", wheel::render_version(*version), next_after(*version, size));
  }
  std::string text = clause;
  if (text.starts_with('=') && !text.starts_with("==")) text.insert(0, "=");
  if (std::string_view("=<>!~").find(text[0]) == std::string_view::npos) text.insert(0, "==");
  const auto specifier = wheel::parse_specifier(text);
  if (!specifier) return unknown();
  wheel::SpecifierSet alone;
  alone.specifiers.push_back(*specifier);
  return wheel::render_specifiers(alone);
}

}  // namespace

Result<std::string> poetry_specifiers(std::string_view constraint) {
  if (constraint.contains('|')) {
    return fail(ErrorKind::malformed,
                fmt::format("{} has alternatives, which a requirement (PEP 440) cannot have",
                            text::quote(constraint)),
                "write it as one range, with != for what is not in it");
  }
  std::vector<std::string> clauses;
  std::string clause;
  const auto finish = [&] {
    if (!clause.empty()) clauses.push_back(std::move(clause));
    clause.clear();
  };
  for (const char c : constraint) {
    const bool ends = c == ',' || c == ' ' || c == '\t';
    // ">= 1.2" is one clause.
    const bool only_operator = clause.find_first_not_of("=<>!~^") == std::string::npos;
    if (!ends) {
      clause += c;
    } else if (c == ',' || !only_operator) {
      finish();
    }
  }
  finish();
  std::vector<std::string> made;
  for (const std::string& one : clauses) {
    if (one == "*") continue;
    auto specifier = one_clause(one);
    if (!specifier) return specifier;
    made.push_back(*std::move(specifier));
  }
  return fmt::format("{}", fmt::join(made, ","));
}

Result<ImportedProject> parse_poetry_project(std::string_view text, const std::string& where) {
  const auto document = documents::parse_toml(text, where);
  if (!document) return std::unexpected(document.error());
  return PoetryReader(*document, where).read();
}

Result<ImportedProject> parse_poetry_lock(std::string_view text, const std::string& where) {
  const auto document = documents::parse_toml(text, where);
  if (!document) return std::unexpected(document.error());
  TomlReading reading(where);
  TomlTable root(*document, "", reading);
  ImportedProject imported;
  if (auto metadata = root.table("metadata")) {
    const std::string version = metadata->text("lock-version").value_or("");
    if (!version.starts_with("1.") && !version.starts_with("2."))
      metadata->refuse(
          "lock-version",
          fmt::format("version {} is not known, only 1.x and 2.x", text::quote(version)),
          "a newer version of Axle may read it", ErrorKind::unsupported);
  } else if (!reading.error()) {
    root.refuse("metadata", "the table is missing", "let poetry write it anew: `poetry lock`");
  }
  for (TomlTable& package : root.tables("package")) {
    const std::string name = package.required_text("name");
    const std::string version = package.required_text("version");
    const toml::node* source = package.find("source");
    const auto kind = source != nullptr && source->is_table()
                          ? (*source->as_table())["type"].value_or(std::string())
                          : std::string();
    const bool from_index = kind.empty() || kind == "legacy";
    if (from_index && !add_pin(name, version, imported.pins))
      package.refuse("version", fmt::format("{} is not a version", text::quote(version)));
  }
  if (reading.error()) return std::unexpected(*reading.error());
  return imported;
}

}  // namespace axle::session
