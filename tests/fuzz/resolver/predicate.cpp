// Conditions on machines out of a lock: what is read is written back as it was read.
#include "resolver/predicate/predicate.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto predicate = axle::resolver::parse_predicate(text);
  if (!predicate) return 0;
  const auto again = axle::resolver::parse_predicate(axle::resolver::render_predicate(*predicate));
  if (!again || *again != *predicate) std::abort();
  const axle::resolver::FactValues facts = {{"system", "linux"},    {"arch", "x86_64"},
                                            {"libc", "glibc 2.36"}, {"x86_64", "v3"},
                                            {"driver", "12.8"},     {"sm", "90"}};
  for (const auto& misfit : axle::resolver::misfits(*predicate, facts)) {
    if (axle::resolver::render_misfit(misfit).empty()) std::abort();
  }
  return 0;
}
