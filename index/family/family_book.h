#pragma once
// The active families: the shipped ones, and the user's, which replace shipped ones of the same
// name.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/report.h"
#include "index/family/family.h"
#include "index/family/family_source.h"
#include "index/http/transport.h"

namespace axle::index {

/// A shipped family is only parsed when one of its projects is requested: most commands need none.
class FamilyBook {
 public:
  /// Both must outlive the book.
  FamilyBook(Transport& transport, Report& report) : transport_(transport), report_(report) {}

  void add_shipped();
  /// Adds a user's file; a later one with the same name replaces an earlier one. Errors as
  /// parse_family, and malformed if another file's family has one of its projects.
  [[nodiscard]] Result<void> add_file(std::string_view toml, std::string where);
  /// Uses `url` instead of the family's own: a mirror. Errors: not_found, with the known names;
  /// malformed.
  [[nodiscard]] Result<void> set_url(std::string_view family, std::string url);

  /// By name.
  [[nodiscard]] Result<std::vector<const Family*>> all();
  /// The family that `project` (normalised) belongs to, the user's before a shipped one; nullptr:
  /// none.
  [[nodiscard]] Result<const Family*> of_project(std::string_view project);
  [[nodiscard]] Result<const Family*> named(std::string_view name);

  /// The family's own index. `family` belongs to this book.
  [[nodiscard]] FamilySource& source(const Family& family);

 private:
  struct ListedFamily {
    std::string_view shipped;        ///< its text; empty: the user's
    std::unique_ptr<Family> family;  ///< nullptr until parsed
    std::unique_ptr<FamilySource> source;
  };

  [[nodiscard]] Result<const Family*> find_project(std::string_view project);
  [[nodiscard]] Result<Family*> parsed(const std::string& name, ListedFamily& entry);

  Transport& transport_;
  Report& report_;
  std::map<std::string, ListedFamily, std::less<>> entries_;
  std::map<std::string, const Family*, std::less<>> of_project_;  ///< cached answers
};

}  // namespace axle::index
