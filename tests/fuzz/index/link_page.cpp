// A page of links that --find-links names: whatever stands on it, files that are given out are
// sound, and a page on the network never names a file of this machine.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "index/http/url.h"
#include "index/pages/page.h"
#include "index/pages/page_entry.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  for (const std::string_view url :
       {"https://links.example/wheels.html", "file:///srv/wheels.html"}) {
    axle::CollectedReport report;
    const auto page = axle::index::parse_link_page(body, url, report);
    if (!page) continue;
    for (const axle::index::PublishedFile& file : page->files) {
      if (!axle::index::is_sound_file_name(file.filename)) std::abort();
      const bool local = axle::index::is_file_url(file.url);
      if (local ? axle::index::is_http_url(url) : !axle::index::is_http_url(file.url)) std::abort();
    }
  }
  return 0;
}
