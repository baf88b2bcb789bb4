// The file in which drivers' answers are kept, whoever wrote it, and what it makes of a machine.
#include "detect/drivers/kept_answers.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using axle::detect::GpuVendor;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string_view fingerprint = "program\t1\n";
  const auto answers = axle::detect::parse_kept_answers(text, fingerprint);
  if (answers) {
    // What was read is what would be written.
    if (axle::detect::render_kept_answers(fingerprint, *answers) != text) {
      const auto again = axle::detect::parse_kept_answers(
          axle::detect::render_kept_answers(fingerprint, *answers), fingerprint);
      if (again != answers) std::abort();
    }
    for (const axle::detect::KeptAnswer& answer : *answers) {
      if (answer.time <= 0) std::abort();
      for (const GpuVendor vendor : {GpuVendor::nvidia, GpuVendor::amd, GpuVendor::intel}) {
        const std::int64_t life = axle::detect::lifetime_of(vendor, answer.text);
        if (life < 0 || life > 24 * 60 * 60) std::abort();
      }
    }
  }
  return 0;
}
