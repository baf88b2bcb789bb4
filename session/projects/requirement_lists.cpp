#include "session/projects/requirement_lists.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/core.h>

#include "foundation/documents/toml_array_edit.h"
#include "foundation/documents/toml_reader.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

using documents::TomlStatement;
using documents::TomlStatementKind;
using Path = std::vector<std::string>;

constexpr const char* groups_table = "dependency-groups";
constexpr const char* extras_table = "optional-dependencies";

Path table_of(const RequirementList& list) {
  switch (list.kind) {
    case RequirementList::Kind::extra:
      return {"project", extras_table};
    case RequirementList::Kind::group:
      return {groups_table};
    case RequirementList::Kind::dependencies:
      break;
  }
  return {"project"};
}

const toml::node* find_node(const toml::table& document, const Path& path) {
  const toml::node* node = &document;
  for (const std::string& segment : path) {
    const toml::table* table = node->as_table();
    node = table == nullptr ? nullptr : table->get(segment);
    if (node == nullptr) return nullptr;
  }
  return node;
}

/// The key of that name as the table has it, else as it is asked for.
std::string key_in(const toml::table& document, const Path& table, const std::string& name) {
  const toml::node* node = find_node(document, table);
  if (node == nullptr || !node->is_table()) return name;
  for (const auto& [key, value] : *node->as_table()) {
    if (wheel::normalize_name(key.str()) == wheel::normalize_name(name))
      return std::string(key.str());
  }
  return name;
}

bool begins_with(const Path& path, const Path& start) {
  return path.size() >= start.size() && std::equal(start.begin(), start.end(), path.begin());
}

std::string joined(const Path& path, std::size_t from = 0) {
  std::string written;
  for (std::size_t i = from; i < path.size(); ++i)
    written += (i == from ? "" : ".") + documents::toml_key(path[i]);
  return written;
}

/// Finds where a new list goes.
class NewListWriter {
 public:
  NewListWriter(const std::string& text, const Path& path, const std::string& written)
      : text_(text),
        path_(path),
        written_(written),
        statements_(documents::toml_statements(text)) {}

  std::string write() {
    Path table(path_.begin(), path_.end() - 1);
    while (!table.empty()) {
      if (const TomlStatement* inline_table = find_inline(table))
        return with_member(*inline_table, table.size());
      if (const TomlStatement* last = last_of_section(table)) {
        if (table.size() + 1 == path_.size()) return with_line(*last, joined(path_, table.size()));
        return with_table(last);
      }
      if (const TomlStatement* last = last_dotted(table))
        return with_line(*last, joined(path_, last->depth));
      table.pop_back();
    }
    return with_table(last_about_project());
  }

 private:
  [[nodiscard]] bool is_top(const TomlStatement& statement) const {
    return statement.kind == TomlStatementKind::value && !statement.inside;
  }

  [[nodiscard]] const TomlStatement* find_inline(const Path& table) const {
    for (const TomlStatement& one : statements_) {
      if (one.kind == TomlStatementKind::value && one.path == table &&
          one.value.of(text_).starts_with('{'))
        return &one;
    }
    return nullptr;
  }

  /// Of the section that `[table]` begins: its last value, or that header.
  [[nodiscard]] const TomlStatement* last_of_section(const Path& table) const {
    const TomlStatement* last = nullptr;
    for (const TomlStatement& one : statements_) {
      if (one.kind == TomlStatementKind::table && one.path == table) {
        last = &one;
      } else if (one.kind != TomlStatementKind::value) {
        if (last != nullptr) break;
      } else if (last != nullptr && is_top(one)) {
        last = &one;
      }
    }
    return last;
  }

  /// The last `a.b.c = …` of the table [a.b] that has no header.
  [[nodiscard]] const TomlStatement* last_dotted(const Path& table) const {
    const TomlStatement* last = nullptr;
    for (const TomlStatement& one : statements_)
      if (is_top(one) && one.depth < table.size() && begins_with(one.path, table)) last = &one;
    return last;
  }

  /// The last statement of [project] and its tables; nullptr: there is none.
  [[nodiscard]] const TomlStatement* last_about_project() const {
    const TomlStatement* last = nullptr;
    for (const TomlStatement& one : statements_)
      if (!one.inside && begins_with(one.path, {"project"})) last = &one;
    return last;
  }

  [[nodiscard]] std::string with_member(const TomlStatement& table, std::size_t depth) const {
    const auto own = static_cast<std::size_t>(&table - statements_.data());
    const TomlStatement* last = nullptr;
    for (const TomlStatement& one : statements_)
      if (one.inside == own) last = &one;
    const std::string member = fmt::format("{} = [{}]", joined(path_, depth), written_);
    std::string made = text_;
    if (last != nullptr) {
      made.insert(last->whole.end, ", " + member);
    } else {
      made.replace(table.value.begin, table.value.end - table.value.begin, "{ " + member + " }");
    }
    return made;
  }

  /// After the line of `last`, with its indentation.
  [[nodiscard]] std::string with_line(const TomlStatement& last, const std::string& key) const {
    const std::size_t begin = documents::line_begin(text_, last.whole.begin);
    const std::string indent = text_.substr(begin, last.whole.begin - begin);
    const bool is_indent = indent.find_first_not_of(" \t") == std::string::npos;
    const std::string own = is_indent ? indent : std::string();
    const std::string_view end = documents::line_end_at(text_, last.whole.end);
    return inserted(last.whole.end,
                    fmt::format("{0}{2} = [{1}{0}    {3},{1}{0}]{1}", own, end, key, written_));
  }

  /// With a table of its own; after `last`, or at the end.
  [[nodiscard]] std::string with_table(const TomlStatement* last) const {
    const std::size_t after = last == nullptr ? text_.size() : last->whole.end;
    const std::string_view end = documents::line_end_at(text_, after);
    std::string table = fmt::format("[{1}]{0}{2} = [{0}    {3},{0}]{0}", end,
                                    joined(Path(path_.begin(), path_.end() - 1)),
                                    documents::toml_key(path_.back()), written_);
    const std::size_t at = documents::next_line(text_, after);
    if (at > 0) table.insert(0, end);
    const bool before_more = at < text_.size() && text_[at] != '\n' && text_[at] != '\r';
    if (before_more) table += end;
    return inserted(after, table);
  }

  /// Behind the line with `at`, which may be the last one and have no end.
  [[nodiscard]] std::string inserted(std::size_t at, std::string lines) const {
    const std::size_t place = documents::next_line(text_, at);
    if (place > 0 && text_[place - 1] != '\n') lines.insert(0, documents::line_end_at(text_, at));
    std::string made = text_;
    return made.insert(place, lines);
  }

  const std::string& text_;
  const Path& path_;
  const std::string& written_;
  std::vector<TomlStatement> statements_;
};

bool same_value(const toml::node& one, const toml::node& other);

bool same_table(const toml::table& one, const toml::table& other) {
  return one.size() == other.size() && std::ranges::all_of(one, [&](const auto& entry) {
           const toml::node* counterpart = other.get(entry.first.str());
           return counterpart != nullptr && same_value(entry.second, *counterpart);
         });
}

bool same_array(const toml::array& one, const toml::array& other) {
  if (one.size() != other.size()) return false;
  for (std::size_t i = 0; i < one.size(); ++i)
    if (!same_value(one[i], other[i])) return false;
  return true;
}

/// Unlike toml++'s own comparison: not a number is the same as itself.
bool same_value(const toml::node& one, const toml::node& other) {
  if (one.type() != other.type()) return false;
  if (const auto* table = one.as_table()) return same_table(*table, *other.as_table());
  if (const auto* array = one.as_array()) return same_array(*array, *other.as_array());
  if (const auto* number = one.as_floating_point()) {
    const double left = number->get();
    const double right = other.as_floating_point()->get();
    return left == right || (std::isnan(left) && std::isnan(right));
  }
  if (const auto* text = one.as_string()) return text->get() == other.as_string()->get();
  if (const auto* number = one.as_integer()) return number->get() == other.as_integer()->get();
  if (const auto* flag = one.as_boolean()) return flag->get() == other.as_boolean()->get();
  if (const auto* date = one.as_date()) return date->get() == other.as_date()->get();
  if (const auto* time = one.as_time()) return time->get() == other.as_time()->get();
  if (const auto* both = one.as_date_time()) return both->get() == other.as_date_time()->get();
  return false;
}

/// The list in a document that is changed; it is made if it is not there.
toml::array* list_in(toml::table& document, const Path& path) {
  toml::table* table = &document;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (!table->contains(path[i])) table->insert(path[i], toml::table());
    table = table->get(path[i])->as_table();
    if (table == nullptr) return nullptr;
  }
  if (!table->contains(path.back())) table->insert(path.back(), toml::array());
  return table->get(path.back())->as_array();
}

}  // namespace

Result<ListPlace> find_requirement_list(const std::string& text, const std::string& where,
                                        const RequirementList& list) {
  ListPlace place;
  auto document = documents::parse_toml(text, where);
  if (!document) return std::unexpected(std::move(document).error());
  place.document = std::move(*document);
  if (!place.document["project"].is_table() && list.kind != RequirementList::Kind::group)
    return fail(ErrorKind::malformed, fmt::format("{}: it has no table [project]", where),
                "add [project] with `name` and `version`");
  place.path = table_of(list);
  if (list.kind == RequirementList::Kind::dependencies) {
    place.path.emplace_back("dependencies");
  } else {
    place.path.push_back(key_in(place.document, place.path, list.name));
  }
  const toml::node* node = find_node(place.document, place.path);
  if (node == nullptr) return place;
  place.node = node->as_array();
  if (place.node == nullptr) {
    return fail(ErrorKind::malformed, fmt::format("{}:{}: {} is not a list", where,
                                                  node->source().begin.line, joined(place.path)));
  }
  for (const TomlStatement& one : documents::toml_statements(text)) {
    if (one.kind != TomlStatementKind::value || one.path != place.path) continue;
    if (!one.value.of(text).starts_with('[')) break;
    place.array = one.value;
    place.in_line = one.inside.has_value();
    return place;
  }
  return fail(ErrorKind::unsupported,
              fmt::format("{}:{}: {} is written in a way that cannot be changed", where,
                          node->source().begin.line, joined(place.path)),
              "change it in an editor");
}

std::vector<RequirementList> requirement_lists(const std::string& text, const std::string& where) {
  const auto document = documents::parse_toml(text, where);
  if (!document) return {};
  std::vector<RequirementList> lists = {{}};
  const auto add = [&](const Path& path, RequirementList::Kind kind) {
    const toml::node* node = find_node(*document, path);
    if (node == nullptr || !node->is_table()) return;
    for (const auto& [key, value] : *node->as_table())
      lists.push_back({kind, std::string(key.str())});
  };
  add({"project", extras_table}, RequirementList::Kind::extra);
  add({groups_table}, RequirementList::Kind::group);
  return lists;
}

std::string with_new_list(const std::string& text, const ListPlace& place,
                          const std::string& written) {
  return NewListWriter(text, place.path, written).write();
}

Result<void> check_change(const std::string& text, const std::string& changed,
                          const ListPlace& place, const ListChange& change) {
  auto expected = documents::parse_toml(text, "the file");
  if (!expected) return std::unexpected(std::move(expected).error());
  const auto made = documents::parse_toml(changed, "the changed file");
  if (!made) return std::unexpected(made.error());
  toml::array* list = list_in(*expected, place.path);
  if (list == nullptr) return fail(ErrorKind::mismatch, "the list has no place");
  const auto at =
      list->cbegin() + static_cast<std::ptrdiff_t>(std::min(change.index, list->size()));
  if (change.kind != ListChange::Kind::insert) {
    if (change.index >= list->size()) return fail(ErrorKind::mismatch, "the entry is not there");
    const auto next = list->erase(at);
    if (change.kind == ListChange::Kind::replace) list->insert(next, change.requirement);
  } else {
    list->insert(at, change.requirement);
  }
  if (same_table(*expected, *made)) return {};
  return fail(ErrorKind::mismatch, "the changed text would mean something else");
}

}  // namespace axle::session
