// What stands before a form in its file: bytes are a head or none, and nothing beyond their end is
// read.
#include "index/http/kept_form.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "tests/fuzz/require.h"

using namespace axle::index;
using axle::fuzz::require;

namespace {

const std::string key(64, '7');
const std::string identity(64, '1');

/// `patch` over a sound head, with a checksum that fits if it is as long as before.
void check_patched(std::string bytes, std::string_view patch) {
  constexpr std::size_t checksum_at = 16;
  constexpr std::size_t checked_from = 24;
  if (patch.size() < 2) return;
  const std::size_t at = static_cast<unsigned char>(patch[0]) % bytes.size();
  patch = patch.substr(1, bytes.size() - at);
  std::memcpy(bytes.data() + at, patch.data(), patch.size());
  const std::uint64_t sum = form_checksum(0, std::string_view(bytes).substr(checked_from));
  std::memcpy(bytes.data() + checksum_at, &sum, sizeof sum);
  const auto head = decode_form_head(bytes, key);
  if (head) require(head->length <= bytes.size());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  (void)decode_form_head(text, key);
  AnswerHead answer;
  answer.response.status = static_cast<int>(size);
  answer.response.url = text;
  answer.response.etag = text.substr(0, size / 2);
  answer.response.cache_control = text.substr(size / 2);
  answer.sha256 = identity;
  answer.body_size = size;
  const std::string bytes = encode_form_head(key, identity, answer);
  const auto head = decode_form_head(bytes + std::string(text), key);
  require(head && head->length == bytes.size() && head->identity == identity);
  require(head->answer.response.url == text && head->answer.body_size == size);
  require(head->answer.response.etag + head->answer.response.cache_control == text);
  require(encode_form_head(key, head->identity, head->answer) == bytes);
  require(!decode_form_head(bytes, identity));
  check_patched(bytes, text);
  return 0;
}
