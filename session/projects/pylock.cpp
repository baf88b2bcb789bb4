// pylock.toml (PEP 751), version 1.x.
#include <set>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "foundation/documents/toml_reader.h"
#include "foundation/text/quote.h"
#include "session/projects/imported_project.h"
#include "session/projects/locked_versions.h"
#include "wheel/requirement.h"
#include "wheel/version.h"

namespace axle::session {

namespace {

using documents::TomlReading;
using documents::TomlTable;

class PylockReader {
 public:
  PylockReader(const toml::table& document, const std::string& where)
      : document_(document), where_(where), reading_(where) {}

  Result<ImportedProject> read() {
    TomlTable root(document_, "", reading_);
    check_version(root);
    imported_.requires_python = root.text("requires-python").value_or("");
    for (TomlTable& table : root.tables("packages")) take_package(table);
    if (reading_.error()) return std::unexpected(*reading_.error());
    for (const std::string& name : names_)
      if (!needed_.contains(name)) imported_.dependencies.push_back(name);
    if (needed_.empty() && names_.size() > 1) {
      imported_.warn(fmt::format("{}: it does not say which of its {} packages were asked for: all "
                                 "of them become dependencies",
                                 where_, names_.size()),
                     "remove those that only others need: `variant remove`");
    }
    return std::move(imported_);
  }

 private:
  void check_version(TomlTable& root) {
    const std::string said = root.required_text("lock-version");
    if (reading_.error()) return;
    const auto version = wheel::parse_version(said);
    if (!version || version->epoch != 0)
      return root.refuse("lock-version", fmt::format("{} is not a version", text::quote(said)));
    if (version->release[0] != 1)
      root.refuse("lock-version", fmt::format("version {} is not known, only 1.x", said),
                  "a newer version of Axle may read it", ErrorKind::unsupported);
  }

  void take_package(TomlTable& table) {
    const std::string written = table.required_text("name");
    if (reading_.error()) return;
    if (!wheel::is_valid_name(written))
      return table.refuse("name", fmt::format("{} is not a valid name", text::quote(written)));
    const std::string name = wheel::normalize_name(written);
    for (const std::string_view key : {"vcs", "directory", "archive"}) {
      if (table.find(key) == nullptr) continue;
      return imported_.warn(
          fmt::format("{}: {} is not taken: it is from a folder, an archive or a repository",
                      reading_.place(table.node()), name),
          "add it by hand as `NAME @ URL`");
    }
    names_.insert(name);
    if (const auto version = table.text("version");
        version && !add_pin(name, *version, imported_.pins))
      return table.refuse("version", fmt::format("{} is not a version", text::quote(*version)));
    for (TomlTable& need : table.tables("dependencies"))
      needed_.insert(wheel::normalize_name(need.required_text("name")));
  }

  const toml::table& document_;
  const std::string& where_;
  TomlReading reading_;
  std::set<std::string> names_;
  std::set<std::string> needed_;
  ImportedProject imported_;
};

}  // namespace

Result<ImportedProject> parse_pylock(std::string_view text, const std::string& where) {
  const auto document = documents::parse_toml(text, where);
  if (!document) return std::unexpected(document.error());
  return PylockReader(*document, where).read();
}

}  // namespace axle::session
