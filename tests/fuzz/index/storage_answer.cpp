// What a storage of S3's kind may answer, and what may be its address or that of a WebDAV server:
// no key is shown, no control character, and not much.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "index/publish/published_index.h"
#include "index/storage/dav_access.h"
#include "index/storage/storage_refusal.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle::index;
  using axle::fuzz::require;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  StorageAccess access{
      {"wheels", "a/"}, "https://storage.example", "us-east-1", {"AKIDX", "s3cr/t", "t0k=n"}};
  HttpResponse response;
  for (const int status : {200, 301, 403, 404, 503}) {
    response.status = status;
    response.body = text;
    response.said["location"] = std::string(text.substr(0, 300));
    const axle::Error error =
        storage_refusal("read", "https://storage.example/wheels/x", response, access);
    for (const std::string& said : {error.message, error.hint}) {
      require(said.size() < 2000);
      require(
          std::ranges::none_of(said, [](char c) { return static_cast<unsigned char>(c) < ' '; }));
    }
    for (const std::string* key : {&access.keys.id, &access.keys.secret, &access.keys.token})
      require((error.message + '\n' + error.hint).find(*key) == std::string::npos);
  }
  if (const auto address = parse_storage_address(text)) {
    const auto again = parse_storage_address(address->text());
    require(again && again->bucket == address->bucket && again->prefix == address->prefix);
  }
  (void)check_endpoint(std::string(text), {});
  if (const auto folder = parse_dav_address(text, {"trusted.example"})) {
    require(folder->starts_with("http") && !folder->ends_with('/'));
    require(folder->find_first_of("?#@\\ ") == std::string::npos);
    require(parse_dav_address(*folder, {"trusted.example"}) == *folder);
  }
  if (const auto names = parse_published_root(text, "s3://wheels/a/simple/index.json")) {
    for (const std::string& name : *names) require(name.find('/') == std::string::npos);
  }
  return 0;
}
