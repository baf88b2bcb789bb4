// Kept answers, as they are and with a seal that fits. What is accepted is written as it was read.
#include "session/kept_answers/answer_record.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/fuzz/installer/sealed_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto check = [](std::string_view text) {
    const auto record = axle::session::parse_answer_record(text, "fuzz");
    if (!record) return;
    const std::string rendered = axle::session::render_answer_record(*record);
    if (axle::session::parse_answer_record(rendered, "fuzz") != record) std::abort();
  };
  axle::fuzz::check_sealed(data, size, check, axle::installer::Seal::crc32);
  return 0;
}
