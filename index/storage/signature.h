#pragma once
// AWS Signature Version 4, as storages of S3's kind check it (Amazon S3 API reference,
// "Authenticating Requests (AWS Signature Version 4)"). Not left to libcurl, whose 7.88 neither
// sorts the query nor signs a body that it reads from a file.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace axle::index {

struct StorageKeys {
  std::string id;
  std::string secret;
  std::string token;  ///< of temporary keys; empty: they are none
};

struct SigningScope {
  std::string region;
  std::string service = "s3";
};

/// Decoded names and values.
using QueryPairs = std::vector<std::pair<std::string, std::string>>;

struct RequestToSign {
  std::string method;
  std::string path;  ///< as it is sent, percent-encoded
  QueryPairs query = {};
  /// All of these are signed; names in lower case, "host" among them.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string payload_sha256;  ///< hexadecimal
};

/// "a=1&b=x%20y": sorted and encoded as it is signed, and sent.
[[nodiscard]] std::string render_query(const QueryPairs& query);

/// "20130524T000000Z"
[[nodiscard]] std::string signing_time(std::int64_t unix_time);

/// The value of Authorization. `time`: as above.
[[nodiscard]] std::string sign_request(const RequestToSign& request, const StorageKeys& keys,
                                       const SigningScope& scope, std::string_view time);

}  // namespace axle::index
