#include "session/projects/project_edit.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/core.h>
#include <fmt/ranges.h>

#include "foundation/documents/toml_array_edit.h"
#include "foundation/documents/toml_reader.h"
#include "foundation/documents/toml_text.h"
#include "foundation/system/whole_file.h"
#include "foundation/text/quote.h"
#include "session/input_file.h"
#include "session/projects/requirement_lists.h"
#include "session/requests/requirements_file.h"
#include "wheel/requirement.h"
#include "wheel/version.h"

namespace axle::session {

namespace {

using documents::TomlArray;

/// An entry of a list: a requirement, or what is none (an include of a group, an unreadable text).
struct Entry {
  std::string text;
  std::optional<wheel::Requirement> requirement;
};

std::string marker_of(const wheel::Requirement& requirement) {
  wheel::Requirement bare;
  bare.name = "x";
  bare.marker = requirement.marker;
  return wheel::render_requirement(bare);
}

/// The list in the text, and its entries.
class OpenedList {
 public:
  static Result<OpenedList> open(const ProjectEdit& edit, const RequirementList& list) {
    OpenedList made(edit, list);
    auto place = find_requirement_list(edit.new_text, edit.file, list);
    if (!place) return std::unexpected(std::move(place).error());
    made.place_ = *std::move(place);
    if (!made.place_.array) return made;
    made.array_ = documents::toml_array(edit.new_text, *made.place_.array);
    const toml::array& values = *made.place_.node->as_array();
    if (values.size() != made.array_.elements.size()) return made.cannot("its list is not read");
    for (const toml::node& node : values) {
      Entry entry{node.value_or(std::string()), std::nullopt};
      if (auto read = wheel::parse_requirement(entry.text); node.is_string() && read)
        entry.requirement = *std::move(read);
      made.entries_.push_back(std::move(entry));
    }
    return made;
  }

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  [[nodiscard]] bool is_there() const { return place_.array.has_value(); }

  /// Those of `name`; of `marker` (as marker_of has it), if that is not empty.
  [[nodiscard]] std::vector<std::size_t> find(std::string_view name,
                                              const std::string& marker = {}) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      const auto& entry = entries_[i].requirement;
      if (!entry || wheel::normalize_name(entry->name) != wheel::normalize_name(name)) continue;
      if (marker.empty() || marker_of(*entry) == marker) found.push_back(i);
    }
    return found;
  }

  /// The first of `name` that states neither version nor URL.
  [[nodiscard]] std::optional<std::size_t> find_free(std::string_view name) const {
    for (const std::size_t index : find(name)) {
      const wheel::Requirement& one = *entries_[index].requirement;
      if (one.specifiers.empty() && one.url.empty()) return index;
    }
    return std::nullopt;
  }

  /// Where a requirement of `name` belongs.
  [[nodiscard]] std::size_t place_of(std::string_view name) const {
    std::vector<std::string> names;
    for (const Entry& entry : entries_) {
      if (!entry.requirement) return entries_.size();
      names.push_back(wheel::normalize_name(entry.requirement->name));
    }
    if (!std::ranges::is_sorted(names)) return entries_.size();
    const auto after = std::ranges::upper_bound(names, wheel::normalize_name(name));
    return static_cast<std::size_t>(after - names.begin());
  }

  Result<std::string> insert(std::size_t index, const std::string& requirement) const {
    const std::string written = documents::toml_string_like(requirement, quoting());
    ListChange change{ListChange::Kind::insert, index, requirement};
    if (!is_there()) return checked(with_new_list(edit_.new_text, place_, written), change);
    return checked(documents::with_element(edit_.new_text, array_, index, written, place_.in_line),
                   change);
  }

  Result<std::string> replace(std::size_t index, const std::string& requirement) const {
    const std::string_view old = array_.elements[index].value.of(edit_.new_text);
    return checked(documents::with_replaced_element(edit_.new_text, array_, index,
                                                    documents::toml_string_like(requirement, old)),
                   {ListChange::Kind::replace, index, requirement});
  }

  Result<std::string> remove(std::size_t index) const {
    return checked(documents::without_element(edit_.new_text, array_, index),
                   {ListChange::Kind::remove, index, {}});
  }

 private:
  OpenedList(const ProjectEdit& edit, const RequirementList& list) : edit_(edit), list_(list) {}

  /// How the last entry is quoted.
  [[nodiscard]] std::string_view quoting() const {
    if (array_.elements.empty()) return {};
    return array_.elements.back().value.of(edit_.new_text);
  }

  [[nodiscard]] std::unexpected<Error> cannot(std::string_view why) const {
    return fail(ErrorKind::unsupported,
                fmt::format("{}: {} cannot be changed without changing more of the file: {}",
                            edit_.file, list_.shown(), why),
                "change it in an editor");
  }

  [[nodiscard]] Result<std::string> checked(std::string made, const ListChange& change) const {
    if (auto same = check_change(edit_.new_text, made, place_, change); !same)
      return cannot(same.error().message);
    return made;
  }

  const ProjectEdit& edit_;
  const RequirementList& list_;
  ListPlace place_;
  TomlArray array_;
  std::vector<Entry> entries_;
};

/// uv's rule for what is there already.
wheel::Requirement merged(wheel::Requirement old, const wheel::Requirement& wanted) {
  std::set<std::string> extras(old.extras.begin(), old.extras.end());
  extras.insert(wanted.extras.begin(), wanted.extras.end());
  old.extras.assign(extras.begin(), extras.end());
  if (!wanted.specifiers.empty() || !wanted.url.empty()) {
    old.specifiers = wanted.specifiers;
    old.url = wanted.url;
  }
  if (wanted.marker) old.marker = wanted.marker;
  return old;
}

Result<wheel::Requirement> parse_wanted(std::string_view text) {
  auto requirement = wheel::parse_requirement(space_before_marker(std::string(text)));
  if (!requirement) requirement.error().message.insert(0, fmt::format("{}: ", text::quote(text)));
  return requirement;
}

/// A local version label is one build's: no lower bound may name it (PEP 440).
Result<wheel::SpecifierSet> lower_bound(const std::string& version) {
  const auto parsed = wheel::parse_version(version);
  if (!parsed) return std::unexpected(parsed.error());
  return wheel::parse_specifiers(
      fmt::format(">={}", wheel::render_version(parsed->public_version())));
}

/// Which lists have `name`, as options of a command.
std::string where_else(const ProjectEdit& edit, std::string_view name) {
  std::vector<std::string> places;
  for (const RequirementList& list : requirement_lists(edit.new_text, edit.file)) {
    const auto opened = OpenedList::open(edit, list);
    if (!opened || opened->find(name).empty()) continue;
    switch (list.kind) {
      case RequirementList::Kind::dependencies:
        places.emplace_back("in the dependencies (without an option)");
        break;
      case RequirementList::Kind::extra:
        places.push_back(fmt::format("in the extra {0} (--extra {0})", list.name));
        break;
      case RequirementList::Kind::group:
        places.push_back(fmt::format("in the group {0} (--group {0})", list.name));
        break;
    }
  }
  if (places.empty()) return "pyproject.toml does not name it: another package may require it";
  return fmt::format("it is {}", fmt::join(places, ", "));
}

/// Empty: there is no file.
Result<void> replace_file(const std::string& file, const std::string& from, const std::string& to) {
  const auto there = read_input(file);
  if (!there && (there.error().kind != ErrorKind::not_found || !from.empty()))
    return std::unexpected(there.error());
  if (there.value_or("") != from) {
    return fail(ErrorKind::mismatch, fmt::format("{}: another program changed it meanwhile", file),
                "run the command again");
  }
  std::error_code error;
  if (to.empty()) {
    std::filesystem::remove(file, error);
  } else {
    error = system::write_whole_file(file, to);
  }
  if (!error) return {};
  return fail(ErrorKind::io, fmt::format("{}: cannot be written: {}", file, error.message()),
              "it is as it was");
}

}  // namespace

std::string RequirementList::shown() const {
  switch (kind) {
    case Kind::extra:
      return "the extra " + name;
    case Kind::group:
      return "the group " + name;
    case Kind::dependencies:
      break;
  }
  return "dependencies";
}

Result<void> add_requirement(ProjectEdit& edit, const RequirementList& list,
                             std::string_view requirement) {
  auto wanted = parse_wanted(requirement);
  if (!wanted) return std::unexpected(std::move(wanted).error());
  const auto opened = OpenedList::open(edit, list);
  if (!opened) return std::unexpected(opened.error());
  const auto same = opened->find(wanted->name, wanted->marker ? marker_of(*wanted) : std::string());
  if (same.size() > 1) {
    return fail(ErrorKind::conflict,
                fmt::format("{}: {} has {} entries for {}", edit.file, list.shown(), same.size(),
                            wanted->name),
                "name the marker of the one that is meant: NAME; MARKER");
  }
  std::string written = wheel::render_requirement(*wanted);
  if (!same.empty()) {
    written = wheel::render_requirement(merged(*opened->entries()[same[0]].requirement, *wanted));
    // What says the same already stays as it is written.
    if (written == wheel::render_requirement(*opened->entries()[same[0]].requirement)) return {};
  }
  auto made = same.empty() ? opened->insert(opened->place_of(wanted->name), written)
                           : opened->replace(same[0], written);
  if (!made) return std::unexpected(std::move(made).error());
  edit.new_text = *std::move(made);
  edit.changed.push_back(std::move(written));
  return {};
}

Result<void> remove_requirement(ProjectEdit& edit, const RequirementList& list,
                                std::string_view name) {
  bool found = false;
  for (bool more = true; more;) {
    const auto opened = OpenedList::open(edit, list);
    if (!opened) return std::unexpected(opened.error());
    const auto there = opened->find(name);
    more = !there.empty();
    if (!more) break;
    auto made = opened->remove(there.back());
    if (!made) return std::unexpected(std::move(made).error());
    edit.changed.push_back(opened->entries()[there.back()].text);
    edit.new_text = *std::move(made);
    found = true;
  }
  if (found) return {};
  return fail(ErrorKind::not_found,
              fmt::format("{}: {} {} not have {}", edit.file, list.shown(),
                          list.kind == RequirementList::Kind::dependencies ? "do" : "does",
                          text::quote(name)),
              where_else(edit, name));
}

Result<void> bound_requirements(ProjectEdit& edit, const RequirementList& list,
                                const std::map<std::string, std::string, std::less<>>& versions) {
  for (const auto& [name, version] : versions) {
    const auto bound = lower_bound(version);
    if (!bound) return std::unexpected(bound.error());
    for (bool more = true; more;) {
      const auto opened = OpenedList::open(edit, list);
      if (!opened) return std::unexpected(opened.error());
      const auto free = opened->find_free(name);
      more = free.has_value();
      if (!more) break;
      wheel::Requirement bounded = *opened->entries()[*free].requirement;
      const std::string old = wheel::render_requirement(bounded);
      bounded.specifiers = *bound;
      const std::string written = wheel::render_requirement(bounded);
      auto made = opened->replace(*free, written);
      if (!made) return std::unexpected(std::move(made).error());
      std::ranges::replace(edit.changed, old, written);
      edit.new_text = *std::move(made);
    }
  }
  return {};
}

Result<void> write_edit(const ProjectEdit& edit) {
  return replace_file(edit.file, edit.old_text, edit.new_text);
}

Result<void> take_back(const ProjectEdit& edit) {
  return replace_file(edit.file, edit.new_text, edit.old_text);
}

}  // namespace axle::session
