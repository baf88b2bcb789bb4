#pragma once
// HTTP responses in a folder. Entries appear whole (written to drafts/, renamed) and carry a
// checksum: one that is torn, foreign or corrupt counts as absent. Several processes may use one
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
  std::int64_t confirmed_at = 0;  ///< seconds since 1970 when the server last vouched for it
};

class CacheStore {
 public:
  /// Nothing is created before the first `write`.
  explicit CacheStore(std::string folder) : folder_(std::move(folder)) {}

  [[nodiscard]] std::optional<CachedResponse> read(std::string_view key) const;
  /// The same, where "there is none" and "it cannot be read" (io) are not one answer.
  [[nodiscard]] Result<std::optional<CachedResponse>> look_up(std::string_view key) const;
  /// False when the cache cannot be written: it stays as it is then, and that stops nothing.
  bool write(std::string_view key, const HttpResponse& response, std::int64_t confirmed_at) const;
  /// The server vouched for the entry again.
  void confirm(std::string_view key, std::int64_t confirmed_at) const;

 private:
  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[nodiscard]] bool make_drafts_folder(const std::string& drafts) const;
  std::string folder_;
  mutable std::atomic<bool> swept_ = false;
};

/// The file of an entry, and back (`bytes` is taken: the body stays where it lies). `nullopt` for
/// anything that `encode_entry` did not write.
[[nodiscard]] std::string encode_entry(std::string_view key, const HttpResponse& response);
[[nodiscard]] std::optional<CachedResponse> decode_entry(std::string bytes, std::string_view key);

}  // namespace axle::index
