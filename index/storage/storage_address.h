#pragma once
// Where a storage of S3's kind is, and where its objects are.

#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/storage/signature.h"

namespace axle::index {

/// "s3://BUCKET/PREFIX"
struct StorageAddress {
  std::string bucket;
  std::string prefix;  ///< empty, or "a/b/": the keys of all objects begin with it

  [[nodiscard]] std::string text() const;
};

[[nodiscard]] bool is_storage_address(std::string_view text);
/// Not a folder of this machine: a storage, or a folder of a WebDAV server.
[[nodiscard]] bool is_stored_elsewhere(std::string_view text);

/// Error: malformed (no bucket, a login, a name that is none).
[[nodiscard]] Result<StorageAddress> parse_storage_address(std::string_view text);

/// All that requests to it need.
struct StorageAccess {
  StorageAddress address;
  std::string endpoint;  ///< "https://host:port" as it is set; empty: Amazon's own
  std::string region;
  StorageKeys keys;
};

/// Error: malformed (no http or https URL, or one with a login, query or fragment), unsupported
/// (plain http to a host that is neither loopback nor among `trusted_hosts`: it could read what is
/// sent).
[[nodiscard]] Result<void> check_endpoint(const std::string& endpoint,
                                          const std::vector<std::string>& trusted_hosts);

/// Of the bucket, without a slash at its end. An endpoint that is set is used with the bucket in
/// the path, as MinIO and most others want it. Amazon's own has it in the host name, but where that
/// would have dots, which no certificate covers.
[[nodiscard]] std::string bucket_url(const StorageAccess& access);

}  // namespace axle::index
