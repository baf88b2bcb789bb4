// Response heads as any server may send them, line by line, and the headers that have a
// grammar.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "index/http/http_rules.h"
#include "index/http/url.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle::index;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  ResponseHead head;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t end = rest.find('\n');
    head.add_line(rest.substr(0, end));
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  if (const auto range = parse_content_range(head.content_range)) {
    if (range->first > range->last || (range->total && range->last >= *range->total)) std::abort();
  }
  (void)parse_cache_control(head.cache_control);
  HttpRequest request;
  request.url = "http://x/";
  request.range = ByteRange{0, 10};
  (void)check_partial(request, head);
  if (const auto next = next_hop("https://index.example/a", head.location)) {
    if (!is_http_url(*next) || next->starts_with("http:")) std::abort();
  }
  const auto pause =
      retry_pause(3, std::chrono::milliseconds(250), head.seconds_to_wait(1'000'000'000));
  if (pause.count() < 0 || pause > std::chrono::seconds(30)) std::abort();
  return 0;
}
