#pragma once
// Requests to a storage of S3's kind: objects are read, written and removed, each request signed.
// May be used by several threads at once.

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "index/http/transport.h"
#include "index/publish/index_place.h"
#include "index/storage/object_body.h"
#include "index/storage/object_store.h"
#include "index/storage/storage_address.h"

namespace axle::index {

/// What an object must be when it is replaced (Amazon S3, "conditional writes").
struct PutCondition {
  bool is_set = false;
  std::string etag = {};  ///< empty: there is none
};

class StorageClient {
 public:
  /// `transport`: without logins. Its retries count.
  StorageClient(StorageAccess access, std::unique_ptr<Transport> transport);
  ~StorageClient();
  StorageClient(const StorageClient&) = delete;
  StorageClient& operator=(const StorageClient&) = delete;

  [[nodiscard]] const StorageAccess& access() const { return access_; }
  /// Of the object `key` (below the prefix), for messages and readers.
  [[nodiscard]] std::string url(std::string_view key) const;
  /// Signs requests below `url("")` and sends others as they are. A page whose address ends with
  /// "/" is read as its index.json.
  [[nodiscard]] Transport& reader() { return *reader_; }

  // Errors: io, with what the storage says.

  /// Size and sha256, as it was told when it was written; an empty sha256: it was not. Nullopt:
  /// there is none.
  [[nodiscard]] Result<std::optional<StoredObject>> head(std::string_view key);
  /// Nullopt: there is none.
  [[nodiscard]] Result<std::optional<StoredText>> get(std::string_view key,
                                                      std::uint64_t max_bytes);
  /// Whether there is any object whose key begins so.
  [[nodiscard]] Result<bool> has_any(std::string_view key_begin);
  /// The ETag that it has now, perhaps empty. Nullopt: the storage has no such keys (MinIO refuses
  /// those that end with "/"). Error: conflict, if `condition` does not hold; a storage that does
  /// not know conditions is not asked for one again.
  [[nodiscard]] Result<std::optional<std::string>> put(std::string_view key, const ObjectKind& kind,
                                                       const ObjectBody& body,
                                                       const PutCondition& condition = {});
  /// It has refused to compare anything before it writes.
  [[nodiscard]] bool is_unconditional() const { return is_unconditional_; }
  [[nodiscard]] Result<void> remove(std::string_view key);

  /// The id of a new upload in parts, of a file with this hash.
  [[nodiscard]] Result<std::string> begin_parts(std::string_view key, const ObjectKind& kind,
                                                std::string_view sha256);
  /// The ETag of the part, which `complete_parts` has to name. Errors, of both: not_found (the
  /// storage does not know the upload any more), unsupported (it refuses the request), io.
  [[nodiscard]] Result<std::string> put_part(std::string_view key, std::string_view upload,
                                             unsigned number, const ObjectBody& body);
  /// `etags` in the order of the parts.
  [[nodiscard]] Result<void> complete_parts(std::string_view key, std::string_view upload,
                                            std::span<const std::string> etags);
  [[nodiscard]] Result<void> abort_parts(std::string_view key, std::string_view upload);

 private:
  class Reader;
  struct Request;
  [[nodiscard]] Result<HttpResponse> send(const Request& request);
  [[nodiscard]] std::shared_ptr<const HttpCall> signed_call(const Request& request,
                                                            const std::string& url) const;
  [[nodiscard]] std::string object_url(std::string_view key) const;
  [[nodiscard]] Error refusal(std::string_view action, std::string_view key,
                              const HttpResponse& response) const;

  StorageAccess access_;
  std::string bucket_url_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Transport> reader_;
  std::atomic<bool> is_unconditional_ = false;
};

}  // namespace axle::index
