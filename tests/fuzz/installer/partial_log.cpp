// Logs of partial wheels, as they are and with checks that fit. What is accepted lies in the wheel,
// and is written as it was read.
#include "installer/store/partial_log.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "wheel/hash/sha256.h"

namespace {

constexpr std::uint64_t wheel_size = 10'000'000;
const std::string wheel_hash(64, 'a');

void check(std::string_view text) {
  const auto log = axle::installer::parse_partial_log(text, wheel_hash, wheel_size);
  if (!log) return;
  if (log->length > text.size()) std::abort();
  std::string again = axle::installer::render_log_head(wheel_hash, wheel_size);
  for (const auto& hash : log->hashes) {
    if (hash.bytes > wheel_size || hash.bytes % 64 != 0) std::abort();
    again += axle::installer::render_log_line(hash);
  }
  for (const std::size_t member : log->done) again += axle::installer::render_log_line(member);
  for (const auto& [member, place] : log->places) {
    if (place.data_offset + place.packed_bits / 8 > wheel_size) std::abort();
    again += axle::installer::render_log_line(member, place);
  }
  auto same = axle::installer::parse_partial_log(again, wheel_hash, wheel_size);
  if (!same) std::abort();
  same->length = log->length;
  if (*same != *log) std::abort();
}

/// Every line with the check that makes it count.
std::string with_checks(std::string_view text) {
  std::string lines = axle::installer::render_log_head(wheel_hash, wheel_size);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string line(text.substr(0, end));
    line += ' ';
    lines += line + axle::wheel::render_hex(axle::wheel::sha256(line)).substr(0, 16) + '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(text);
  check(with_checks(text));
  return 0;
}
