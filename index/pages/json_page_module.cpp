#include "index/pages/json_page_module.h"

#include <new>
#include <utility>

using namespace axle;

extern "C" __attribute__((visibility("default"))) index::JsonPageEnd axle_parse_json_page(
    const index::JsonPageLayout& layout, std::string& body, std::string_view page_url,
    Report& report, Result<index::ProjectPage>& page) noexcept {
  if (layout != index::JsonPageLayout()) return index::JsonPageEnd::other_layout;
  try {
    page = index::parse_json_page(std::move(body), page_url, report);
  } catch (const std::bad_alloc&) {
    return index::JsonPageEnd::out_of_memory;
  }
  return index::JsonPageEnd::done;
}
