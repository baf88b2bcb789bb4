// Facts on the command line: every ";" part is added to one machine.
#include "machines/inline_facts.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  axle::detect::Machine machine;
  for (int part = 0; part < 64 && !rest.empty(); ++part) {
    const std::size_t end = rest.find(';');
    const auto added = axle::machines::add_facts(machine, rest.substr(0, end));
    if (!added && added.error().kind != axle::ErrorKind::not_found) std::abort();
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  return 0;
}
