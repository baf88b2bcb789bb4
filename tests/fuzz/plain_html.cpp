// The reader of plain pages may step aside; what it does read, it reads as a browser does.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "index/html_content.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto plain = axle::index::read_plain_html(body);
  if (plain && !plain->says_the_same_as(axle::index::read_any_html(body))) std::abort();
  return 0;
}
