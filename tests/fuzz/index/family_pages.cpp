// Property: whatever a page of pages links to, only addresses of the template's form come out, each
// of a label of the family, and not without end.

#include "index/family/family_pages.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "index/http/url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle;
  index::Family family;
  family.url = "https://acme.test/whl/torch-{torch}+{label}.html";
  family.page_list = "index.html";
  family.links = true;
  family.label_in = index::LabelPlace::built_for;
  for (const char* label : {"cu130", "cpu"}) family.labels.emplace_back().name = label;
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto pages = index::linked_pages(family, body, index::page_list_url(family));
  if (pages.size() > 500) __builtin_trap();
  for (const index::FamilyPage& page : pages) {
    const std::string plain = index::percent_decode(index::without_fragment(page.url));
    const bool sound = plain.starts_with("https://acme.test/whl/torch-") &&
                       plain.ends_with(".html") && plain.find('/', 22) == std::string::npos &&
                       (plain.contains("cu130") || plain.contains("cpu"));
    if (!sound) __builtin_trap();
  }
  return 0;
}
