// Whatever a record of a file says: refused, or a file that a page can list.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "index/http/url.h"
#include "index/pages/page_entry.h"
#include "index/publish/record_parts.h"
#include "wheel/requirement.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto record =
      axle::index::parse_record({reinterpret_cast<const char*>(data), size}, "records, line 1");
  if (!record) return 0;
  const axle::index::ListedFile& file = record->file;
  const bool sound = axle::index::is_sound_file_name(file.filename) && file.sha256.size() == 64 &&
                     record->project == axle::wheel::normalize_name(record->project) &&
                     (file.url.empty() || axle::index::is_http_url(file.url) ||
                      axle::index::is_file_url(file.url));
  if (!sound) std::abort();
  return 0;
}
