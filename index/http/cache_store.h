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
#include "index/http/kept_form.h"
#include "index/http/transport.h"

namespace axle::index {

/// The body may be left out.
struct CachedResponse : AnswerHead {
  std::int64_t confirmed_at = 0;  ///< seconds since 1970 when the server last confirmed it
};

class CacheStore {
 public:
  /// Nothing is created before the first `write`.
  explicit CacheStore(std::string folder) : folder_(std::move(folder)) {}

  /// `has_form`: the body is left out if it says so, and neither looked for nor checked then.
  [[nodiscard]] std::optional<CachedResponse> read(std::string_view key,
                                                   const HasForm& has_form = nullptr) const;
  /// What the form of the entry says of it, if `has_form` says that it can be used.
  [[nodiscard]] std::optional<CachedResponse> read_form(std::string_view key,
                                                        const HasForm& has_form) const;
  /// The same, but distinguishes "there is none" from "it cannot be read" (io).
  [[nodiscard]] Result<std::optional<CachedResponse>> look_up(std::string_view key) const;
  /// The same without the body, which is not read: whether that is sound is found out by `read`.
  /// Error: io (there is something else in its place).
  [[nodiscard]] Result<std::optional<CachedResponse>> look_ahead(std::string_view key) const;
  /// The place for forms of the body; its path is empty if the cache cannot be written, which is
  /// not an error for the command.
  FormPlace write(std::string_view key, const HttpResponse& response,
                  std::int64_t confirmed_at) const;
  /// False: it was not written.
  [[nodiscard]] bool write_form(const FormPlace& copy, std::string_view bytes) const;
  /// The server confirmed again what `entry` was read as.
  void confirm(std::string_view key, const CachedResponse& entry, std::int64_t confirmed_at) const;

 private:
  [[nodiscard]] std::string path_of(std::string_view key_hash) const;
  [[nodiscard]] std::string drafts_folder() const;
  [[nodiscard]] bool make_folders(const std::string& path) const;
  [[nodiscard]] bool write_file(const std::string& path, std::string_view bytes,
                                std::optional<std::int64_t> modified) const;
  std::string folder_;
  mutable std::atomic<bool> swept_ = false;
};

/// What the file of an entry, or of its form, says of the response, for whoever looks through the
/// folder; the body is left out. nullopt: it is neither, or damaged.
[[nodiscard]] std::optional<AnswerHead> read_entry_head(const std::string& path);

/// The file of an entry, and back (`bytes` is consumed: the body is not copied). `nullopt` for
/// anything that `encode_entry` did not write.
[[nodiscard]] std::string encode_entry(std::string_view key, const HttpResponse& response);
[[nodiscard]] std::optional<CachedResponse> decode_entry(std::string bytes, std::string_view key);

}  // namespace axle::index
