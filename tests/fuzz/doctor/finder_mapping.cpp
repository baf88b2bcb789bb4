// The finder of an editable installation.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "doctor/import_names.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using axle::doctor::finder_mapping;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto mapping = finder_mapping(text);
  // Written again as Python does, they are the same.
  const auto quoted = [](const std::string& value) {
    std::string out = "'";
    for (const char c : value)
      out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return out + "'";
  };
  std::string again = "\nMAPPING: dict[str, str] = {";
  for (const auto& [name, place] : mapping) {
    if (!again.ends_with('{')) again += ", ";
    again += quoted(name) + ": " + quoted(place);
  }
  axle::fuzz::require(finder_mapping(again + "}\n") == mapping);
  return 0;
}
