#include "installer/history/history.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include "installer/file_access.h"
#include "installer/sealed_fields.h"
#include "wheel/hash/expected_hash.h"
#include "wheel/wheel_name.h"

namespace axle::installer {
namespace {

constexpr std::string_view history_header = "axle-history ";
constexpr std::string_view history_version = "1";
constexpr std::uint64_t longest_text = 64U << 20;

std::string history_place(const std::string& base) { return base + "/.axle/history"; }
std::string history_draft(const std::string& base) { return base + "/.axle/transaction/history"; }

// Sealed fields: header; then three lists, each with its number first. A package is its origin
// (five fields), RECORD's hash, "+label" or "-", family, two lists of properties, the letters of
// its flags, its provenance, what it was built from, and the overwritten files with their owners; a
// change is its title and two lists of packages.

using Kind = plan::BuiltFrom::Kind;
constexpr std::array<std::pair<Kind, std::string_view>, 3> kinds = {
    {{Kind::file, "file"}, {Kind::folder, "folder"}, {Kind::repository, "repository"}}};

/// A single empty field: it was not built.
void append_built_from(std::string& text, const std::optional<plan::BuiltFrom>& built_from) {
  if (!built_from) return append_field(text, "");
  const plan::BuiltFrom& from = *built_from;
  append_field(text,
               std::ranges::find(kinds, from.kind, &decltype(kinds)::value_type::first)->second);
  for (const std::string* field : {&from.filename, &from.url, &from.sha256, &from.builder,
                                   &from.subdirectory, &from.revision, &from.commit})
    append_field(text, *field);
  append_field(text, fmt::format("{}{}", from.editable ? "e" : "", from.hash_is_given ? "h" : ""));
}

bool read_built_from(std::string_view& rest, std::optional<plan::BuiltFrom>& built_from) {
  const auto word = next_field(rest);
  if (!word || word->empty()) return word.has_value();
  const auto kind = std::ranges::find(kinds, *word, &decltype(kinds)::value_type::second);
  if (kind == kinds.end()) return false;
  plan::BuiltFrom& from = built_from.emplace();
  from.kind = kind->first;
  for (std::string* text : {&from.filename, &from.url, &from.sha256, &from.builder,
                            &from.subdirectory, &from.revision, &from.commit}) {
    const auto field = next_field(rest);
    if (!field) return false;
    *text = *field;
  }
  const auto flags = next_field(rest);
  if (!flags) return false;
  from.editable = flags->contains('e');
  from.hash_is_given = flags->contains('h');
  return true;
}

void append_overwritten(std::string& text, const OverwrittenFiles& files) {
  append_number(text, files.size());
  for (const auto& [path, owner] : files) {
    append_field(text, path);
    append_field(text, owner);
  }
}

bool read_overwritten_files(std::string_view& rest, OverwrittenFiles& files) {
  std::uint64_t count = 0;
  if (!next_number(rest, count)) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto path = next_field(rest);
    const auto owner = path ? next_field(rest) : std::nullopt;
    if (!owner) return false;
    files.insert_or_assign(std::string(*path), std::string(*owner));
  }
  return true;
}

void append_properties(std::string& text, const wheel::VariantProperties& properties) {
  append_number(text, properties.size());
  for (const wheel::Property& property : properties)
    append_field(text, wheel::render_property(property));
}

void append_packages(std::string& text, const std::vector<RecordedPackage>& packages) {
  append_number(text, packages.size());
  for (const RecordedPackage& package : packages) {
    const WheelOrigin& wheel = package.wheel;
    for (const std::string* field :
         {&wheel.name, &wheel.version, &wheel.filename, &wheel.url, &wheel.sha256, &package.record})
      append_field(text, *field);
    append_field(text, package.variant ? "+" + *package.variant : "-");
    append_field(text, package.family);
    append_properties(text, package.variant_properties);
    append_properties(text, package.supported_properties);
    append_field(text,
                 fmt::format("{}{}", package.requested ? "r" : "", package.direct ? "d" : ""));
    append_field(text, package.provenance);
    append_built_from(text, package.built_from);
    append_overwritten(text, package.overwritten);
  }
}

void append_changes(std::string& text, const std::vector<RecordedChange>& changes) {
  append_number(text, changes.size());
  for (const RecordedChange& change : changes) {
    append_field(text, change.title.substr(0, change.title.find('\0')));
    append_packages(text, change.before);
    append_packages(text, change.after);
  }
}

bool read_properties(std::string_view& rest, wheel::VariantProperties& properties) {
  std::uint64_t count = 0;
  if (!next_number(rest, count)) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto field = next_field(rest);
    auto property = field ? wheel::parse_property(*field) : fail(ErrorKind::malformed, "");
    if (!property) return false;
    properties.insert(std::move(*property));
  }
  return true;
}

bool read_packages(std::string_view& rest, std::vector<RecordedPackage>& packages) {
  std::uint64_t count = 0;
  if (!next_number(rest, count)) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    RecordedPackage package;
    WheelOrigin& wheel = package.wheel;
    for (std::string* text : {&wheel.name, &wheel.version, &wheel.filename, &wheel.url,
                              &wheel.sha256, &package.record}) {
      const auto field = next_field(rest);
      if (!field) return false;
      *text = *field;
    }
    const auto variant = next_field(rest);
    const auto family = variant ? next_field(rest) : std::nullopt;
    if (!family || variant->empty()) return false;
    if (variant->front() == '+') package.variant = variant->substr(1);
    package.family = *family;
    if (!read_properties(rest, package.variant_properties) ||
        !read_properties(rest, package.supported_properties))
      return false;
    const auto flags = next_field(rest);
    if (!flags) return false;
    package.requested = flags->contains('r');
    package.direct = flags->contains('d');
    const auto provenance = next_field(rest);
    if (!provenance || !read_built_from(rest, package.built_from) ||
        !read_overwritten_files(rest, package.overwritten))
      return false;
    package.provenance = *provenance;
    packages.push_back(std::move(package));
  }
  return true;
}

bool read_changes(std::string_view& rest, std::vector<RecordedChange>& changes) {
  std::uint64_t count = 0;
  if (!next_number(rest, count)) return false;
  for (std::uint64_t i = 0; i < count; ++i) {
    RecordedChange change;
    const auto title = next_field(rest);
    if (!title) return false;
    change.title = *title;
    if (!read_packages(rest, change.before) || !read_packages(rest, change.after)) return false;
    changes.push_back(std::move(change));
  }
  return true;
}

/// An installation that was made again, and what it is now: its RECORD may be another one.
struct Renewed {
  RecordedPackage old;
  std::string record;
};

/// Of the packages that were to come back those that are different now.
std::vector<Renewed> renewed(const std::vector<RecordedPackage>& wanted,
                             const std::vector<RecordedPackage>& now) {
  std::vector<Renewed> all;
  for (const RecordedPackage& package : wanted) {
    const auto same = std::ranges::find_if(now, [&](const RecordedPackage& other) {
      return other.wheel == package.wheel && !package.wheel.sha256.empty();
    });
    if (same != now.end() && same->record != package.record) all.push_back({package, same->record});
  }
  return all;
}

/// Other installations of the same wheel, with other files of its own, stay what they were.
void renew(std::vector<RecordedPackage>& packages, const std::vector<Renewed>& all) {
  for (RecordedPackage& package : packages) {
    const auto found = std::ranges::find(all, package, &Renewed::old);
    if (found != all.end()) package.record = found->record;
  }
}

}  // namespace

void add_step(History& history, HistoryStep step, RecordedChange change) {
  std::set<std::string_view> names;
  for (const auto* packages : {&change.before, &change.after})
    for (const RecordedPackage& package : *packages) names.insert(package.wheel.name);
  std::erase_if(history.installed,
                [&](const RecordedPackage& one) { return names.contains(one.wheel.name); });
  for (const RecordedPackage& package : change.after)
    if (!package.wheel.sha256.empty()) history.installed.push_back(package);
  if (step == HistoryStep::change) {
    if (change.before == change.after) return;  // installed again as it was
    history.undone.clear();
    history.done.push_back(std::move(change));
  } else {
    auto& from = step == HistoryStep::undo ? history.done : history.undone;
    auto& to = step == HistoryStep::undo ? history.undone : history.done;
    to.push_back(std::move(from.back()));
    from.pop_back();
    const RecordedChange& made = to.back();
    const std::vector<Renewed> all =
        renewed(step == HistoryStep::undo ? made.before : made.after, change.after);
    for (auto* changes : {&history.done, &history.undone}) {
      for (RecordedChange& one : *changes) {
        renew(one.before, all);
        renew(one.after, all);
      }
    }
  }
  if (history.done.size() > longest_history) history.done.erase(history.done.begin());
}

RecordedPackage recorded_package(const History& history, std::string name, std::string version,
                                 const std::string& record) {
  const auto known = std::ranges::find_if(history.installed, [&](const RecordedPackage& one) {
    return one.wheel.name == name && one.record == record;
  });
  if (known != history.installed.end()) return *known;
  return {{std::move(name), std::move(version), {}, {}, {}}, record};
}

Result<plan::ResolvedPackage> package_again(const RecordedPackage& package) {
  auto name = wheel::parse_wheel_name(package.wheel.filename);
  if (!name) return std::unexpected(name.error());
  plan::ResolvedPackage again;
  again.name = package.wheel.name;
  again.version = name->version;
  again.variant = package.variant;
  again.family = package.family;
  again.variant_properties = package.variant_properties;
  again.supported_properties = package.supported_properties;
  again.filename = package.wheel.filename;
  again.wheel_name = std::move(*name);
  again.url = package.wheel.url;
  again.hash = wheel::expected_sha256(package.wheel.sha256);
  again.source = "the history of the environment";
  again.requested = package.requested;
  again.direct = package.direct;
  again.provenance = package.provenance;
  again.built_from = package.built_from;
  return again;
}

std::string render_history(const History& history) {
  std::string text;
  append_field(text, std::string(history_header).append(history_version));
  append_packages(text, history.installed);
  append_changes(text, history.done);
  append_changes(text, history.undone);
  seal_fields(text);
  return text;
}

Result<History> parse_history(std::string_view text, std::string_view where) {
  auto body = open_sealed_fields(text, history_header, history_version, "history", where);
  if (!body) return std::unexpected(body.error());
  std::string_view rest = *body;
  History history;
  if (!read_packages(rest, history.installed) || !read_changes(rest, history.done) ||
      !read_changes(rest, history.undone) || !rest.empty())
    return fail(ErrorKind::malformed, fmt::format("{}: it is not a valid history", where));
  return history;
}

Result<History> read_history(const std::string& base) {
  const std::string path = history_place(base);
  const auto text = read_if_there(path, longest_text);
  if (!text) return std::unexpected(text.error());
  if (!*text) return History{};
  return parse_history(**text, path);
}

Result<void> adopt_history(const std::string& base) {
  if (::rename(history_draft(base).c_str(), history_place(base).c_str()) == 0 || says_absent(errno))
    return {};
  return std::unexpected(system_error("write", history_place(base), errno));
}

Result<void> adopt_or_forget_history(const std::string& base) {
  const auto text = read_if_there(history_draft(base), longest_text);
  if (!text && text.error().kind == ErrorKind::io) return std::unexpected(text.error());
  if (text && !*text) return {};
  const auto history = text ? parse_history(**text, history_draft(base)) : Result<History>();
  if (text && history) return adopt_history(base);
  // What a later version wrote cannot be judged here, nor what it would be in the place of.
  if (!history && history.error().kind == ErrorKind::unsupported) return {};
  if (::unlink(history_place(base).c_str()) == 0 || says_absent(errno)) return {};
  return std::unexpected(system_error("remove", history_place(base), errno));
}

}  // namespace axle::installer
