#pragma once
// The module with the parser of JSON pages. It is built with the program and shares its classes,
// but has a C++ runtime of its own, which simdjson brings: no exception may leave it.

#include <cstddef>

#include "index/opened_module.h"
#include "index/pages/page.h"

namespace axle::index {

/// What both sides must agree on.
struct JsonPageLayout {
  std::size_t page = sizeof(ProjectPage);
  std::size_t file = sizeof(PublishedFile);
  std::size_t result = sizeof(Result<ProjectPage>);
  std::size_t error = sizeof(Error);
  unsigned version = 1;  ///< to be raised where these stay, and what they contain changes
  friend bool operator==(const JsonPageLayout&, const JsonPageLayout&) = default;
};

enum class JsonPageEnd : unsigned char { done, other_layout, out_of_memory, defect };

/// parse_json_page. Only `done` has a page.
using ParseJsonPage = JsonPageEnd (*)(const JsonPageLayout& layout, std::string&& body,
                                      std::string_view page_url, Report& report,
                                      Result<ProjectPage>& page) noexcept;

inline constexpr Module json_page_module = {"libaxle_pages.so", "module for pages of indexes",
                                            "axle_parse_json_page"};

}  // namespace axle::index
