#include "index/pages/json_page_module.h"

#include <new>
#include <utility>

namespace axle::index {

extern "C" __attribute__((visibility("default"))) JsonPageEnd
axle_parse_json_page(const JsonPageLayout& layout, std::string&& body, std::string_view page_url,
                     Report& report, Result<ProjectPage>& page) noexcept {
  if (layout != JsonPageLayout()) return JsonPageEnd::other_layout;
  try {
    page = parse_json_page(std::move(body), page_url, report);
  } catch (const std::bad_alloc&) {
    return JsonPageEnd::out_of_memory;
  } catch (...) {
    return JsonPageEnd::defect;
  }
  return JsonPageEnd::done;
}

}  // namespace axle::index
