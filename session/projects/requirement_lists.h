#pragma once
// Where the lists of requirements stand in the text of a pyproject.toml, and whether a changed text
// means what it should.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/toml.h>

#include "foundation/documents/toml_text.h"
#include "foundation/report/error.h"
#include "session/projects/project_edit.h"

namespace axle::session {

/// Of one list, in one text.
struct ListPlace {
  std::vector<std::string> path;  ///< {"project", "dependencies"}, as written where it is there
  std::optional<documents::TomlSpan> array;  ///< nullopt: the list is not there
  bool in_line = false;                      ///< inside a table of one line
  toml::table document = {};
  const toml::array* node = nullptr;  ///< the list in it, if it is there
};

/// Errors: malformed: the file is not TOML, has no [project], or something else than a list is
/// there.
[[nodiscard]] Result<ListPlace> find_requirement_list(const std::string& text,
                                                      const std::string& where,
                                                      const RequirementList& list);

/// All that are there.
[[nodiscard]] std::vector<RequirementList> requirement_lists(const std::string& text,
                                                             const std::string& where);

/// The text with the list, which was not there, and `written` (TOML) as its only element: in the
/// table that it belongs to, which is added where it is missing.
[[nodiscard]] std::string with_new_list(const std::string& text, const ListPlace& place,
                                        const std::string& written);

struct ListChange {
  enum class Kind : std::uint8_t { insert, replace, remove };
  Kind kind;
  std::size_t index;
  std::string requirement;
};

/// Whether `changed` is the document of `text` with that change, and nothing else. Error:
/// mismatch.
[[nodiscard]] Result<void> check_change(const std::string& text, const std::string& changed,
                                        const ListPlace& place, const ListChange& change);

}  // namespace axle::session
