// A file of the cache, whoever wrote it: what is taken for an entry is one to the last byte.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "index/http/cache_store.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle::index;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Checksums keep a fuzzer out: the bytes are tried as an entry, and inside of a sound one.
  (void)decode_entry(std::string(text), "key");
  HttpResponse response;
  response.status = 200;
  response.url = text;
  response.etag = text;
  response.body = text;
  const auto again = decode_entry(encode_entry("key", response), "key");
  if (again && again->response.body != text) std::abort();
  if (decode_entry(encode_entry("key", response), "other")) std::abort();
  return 0;
}
