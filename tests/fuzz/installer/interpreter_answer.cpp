// What an interpreter (or what stands in its place) prints about itself.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "installer/environment/interpreter.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string stdlib;
  const auto environment = axle::installer::parse_interpreter_answer(text, "fuzz", stdlib);
  if (environment && (!environment->purelib.starts_with('/') || !stdlib.starts_with('/')))
    std::abort();
  return 0;
}
