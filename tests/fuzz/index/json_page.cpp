// Whatever a server sends as a JSON page: read or refused, and every file given out is sound.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "index/http/url.h"
#include "index/pages/page.h"
#include "index/pages/page_entry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  axle::CollectedReport report;
  const auto page =
      axle::index::parse_json_page(std::string(reinterpret_cast<const char*>(data), size),
                                   "https://index.example/simple/name/", report);
  if (!page) return 0;
  for (const axle::index::PublishedFile& file : page->files) {
    const bool sound = axle::index::is_sound_file_name(file.filename) &&
                       axle::index::is_http_url(file.url) &&
                       (file.hash.sha256().empty() || file.hash.sha256().size() == 64);
    if (!sound) std::abort();
  }
  return 0;
}
