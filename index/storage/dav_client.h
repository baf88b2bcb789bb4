#pragma once
// Requests to a WebDAV server (RFC 4918): files are read, written, moved and removed, and one name
// is locked. Nothing is asked that is answered in XML. May be used by several threads at once.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "index/http/transport.h"
#include "index/storage/dav_access.h"
#include "index/storage/object_body.h"

namespace axle::index {

struct DavText {
  std::string text;
  std::string etag;  ///< as the server gives it, perhaps weak; empty: none
};

struct DavFile {
  std::optional<std::uint64_t> size;  ///< nullopt: the server does not say
};

class DavClient {
 public:
  /// `transport`: without logins. Its retries count.
  DavClient(DavAccess access, std::unique_ptr<Transport> transport);
  ~DavClient();
  DavClient(const DavClient&) = delete;
  DavClient& operator=(const DavClient&) = delete;

  [[nodiscard]] const std::string& name() const { return access_.url; }
  /// Of the file `path` below the folder.
  [[nodiscard]] std::string url(std::string_view path) const;
  /// With the login for what is below `url("")`, without for others. A page whose address ends with
  /// "/" is read as its index.json.
  [[nodiscard]] Transport& reader() { return *reader_; }

  // Errors: io, with what the server says.

  /// Nullopt: there is none.
  [[nodiscard]] Result<std::optional<DavFile>> head(std::string_view path);
  [[nodiscard]] Result<std::optional<DavText>> get(std::string_view path, std::uint64_t max_bytes);
  /// With its parents, up to the server's own root. `path` empty: the folder itself. False: it is
  /// there already.
  [[nodiscard]] Result<bool> make_folder(std::string_view path);
  /// False: something is in it, or the server does not say.
  [[nodiscard]] bool is_empty_folder(std::string_view path);
  /// Replaces what is there; with a strong `etag` only if it is still that. Error: conflict.
  [[nodiscard]] Result<void> put(std::string_view path, const ObjectBody& body,
                                 const std::string& etag = {});
  /// False: there is nothing at `from`. Without `overwrite`, conflict if there is something at
  /// `to`.
  [[nodiscard]] Result<bool> move(std::string_view from, std::string_view to, bool overwrite);
  [[nodiscard]] Result<void> remove(std::string_view path);

  /// A token, with which the lock on `path` can be kept and given back; nullopt: somebody else has
  /// it. It ends by itself after `seconds`. Error: unsupported, if the server has no locks.
  [[nodiscard]] Result<std::optional<std::string>> lock(std::string_view path, unsigned seconds);
  /// False: it has ended.
  [[nodiscard]] Result<bool> keep_lock(std::string_view path, const std::string& token,
                                       unsigned seconds);
  /// What comes of it does not matter: else it ends by itself.
  void unlock(std::string_view path, const std::string& token);

 private:
  class Reader;
  struct Request;
  [[nodiscard]] Result<HttpResponse> send(const Request& request);
  /// `root`: where the path begins in `folder`.
  [[nodiscard]] Result<bool> make_collection(const std::string& folder, std::size_t root);
  [[nodiscard]] std::shared_ptr<HttpCall> authorized_call(
      std::string method, const std::map<std::string, std::string>& headers) const;
  [[nodiscard]] Error refusal(std::string_view action, std::string_view url,
                              const HttpResponse& response) const;

  DavAccess access_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Transport> reader_;
};

}  // namespace axle::index
