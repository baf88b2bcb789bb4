// Whatever is sent to the server of an index: components of a path are names, a range is inside.
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "index/pages/page_entry.h"
#include "index/serve/request_rules.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle::index;
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  std::array<std::string_view, 4> lines;  // path, Accept, Range, If-None-Match
  for (std::string_view& line : lines) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (const auto path = parse_request_path(lines[0])) {
    for (std::size_t i = 0; i < path->size(); ++i) {
      const std::string& part = (*path)[i];
      const bool last = i + 1 == path->size();
      const bool sound =
          is_sound_file_name(part) && !part.starts_with('.') && part.find('/') == std::string::npos;
      if (!sound && !(last && part.empty())) std::abort();
    }
  }
  static_cast<void>(negotiate_form(lines[1]));
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1000}, ~std::uint64_t{0}}) {
    const RequestedRange range = parse_range(lines[2], bytes);
    if (range.wanted != WantedRange::part) continue;
    if (range.length == 0 || range.offset >= bytes || range.length > bytes - range.offset)
      std::abort();
  }
  static_cast<void>(names_etag(lines[3], "\"x\""));
  return 0;
}
