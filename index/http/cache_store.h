#pragma once
// HTTP responses in a folder. Entries appear atomically (written to drafts/, renamed) and have a
// checksum: an incomplete, foreign or corrupt one counts as absent. Several processes may use one
// folder. Drafts of processes that were killed are removed by a later one.

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "index/http/transport.h"

namespace axle::index {

struct CachedResponse {
  HttpResponse response;
  std::string sha256;             ///< of the body
  std::int64_t confirmed_at = 0;  ///< seconds since 1970 when the server last confirmed it
};

class CacheStore {
 public:
  /// Nothing is created before the first `write`.
  explicit CacheStore(std::string folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::optional<CachedResponse> read(std::string_view key) const;
  /// The same, but distinguishes "there is none" from "it cannot be read" (io).
  [[nodiscard]] Result<std::optional<CachedResponse>> look_up(std::string_view key) const;
  /// False if the cache cannot be written, which is not an error for the command.
  bool write(std::string_view key, const HttpResponse& response, std::int64_t confirmed_at) const;
  /// The server confirmed the entry again.
  void confirm(std::string_view key, std::int64_t confirmed_at) const;

 private:
  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] bool make_drafts_folder(const std::string& drafts) const;
  std::string folder_;
  mutable std::atomic<bool> swept_ = false;
};

/// The file of an entry, and back (`bytes` is consumed: the body is not copied). `nullopt` for
/// anything that `encode_entry` did not write.
[[nodiscard]] std::string encode_entry(std::string_view key, const HttpResponse& response);
[[nodiscard]] std::optional<CachedResponse> decode_entry(std::string bytes, std::string_view key);

}  // namespace axle::index
