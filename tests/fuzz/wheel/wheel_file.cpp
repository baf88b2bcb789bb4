// Wheels: the input is the four files of a .dist-info folder, divided by lines of "%%": METADATA,
// WHEEL, variant.json and RECORD. They are packed into a wheel, and the wheel is opened.
#include "wheel/wheel_file.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "wheel/wheel_writer.h"

namespace {

using namespace axle::wheel;

std::string take_part(std::string_view& text) {
  constexpr std::string_view divider = "%%\n";
  const std::size_t end = text.find(divider);
  const std::string part(text.substr(0, end));
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + divider.size());
  return part;
}

void open_as(const std::string& bytes, std::string_view name) {
  axle::CollectedReport report;
  const auto wheel = open_wheel(memory_source(bytes), name, "fuzz", report);
  if (wheel) static_cast<void>(read_checked_record(*wheel));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string folder = "demo-1.0.dist-info/";
  std::vector<WheelMember> members = {{"demo.py", "x = 1\n", false}};
  for (const char* file : {"METADATA", "WHEEL", "variant.json", "RECORD"}) {
    std::string part = take_part(text);
    if (!part.empty()) members.push_back({folder + file, std::move(part), false});
  }
  const auto bytes = write_zip(members, 0);
  if (!bytes) return 0;
  open_as(*bytes, "demo-1.0-py3-none-any-v3.whl");
  open_as(*bytes, "demo-1.0-py3-none-any.whl");
  return 0;
}
