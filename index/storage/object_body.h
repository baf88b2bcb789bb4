#pragma once
// What is sent to a storage or to a WebDAV server as one object.

#include <cstdint>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "index/http/transport.h"

namespace axle::index {

/// What an object gets as Content-Type and Cache-Control.
struct ObjectKind {
  std::string_view type;
  bool changes = false;  ///< a page: caches on the way ask again
};
/// By its path in an index.
[[nodiscard]] ObjectKind object_kind(std::string_view path);

/// A text, or a part of a file of this machine.
struct ObjectBody {
  std::string text;  ///< or empty
  std::string file;  ///< its path; empty: `text`
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::string sha256;  ///< hexadecimal, of exactly these bytes
};
[[nodiscard]] ObjectBody text_body(std::string text);
/// All of a file, whose hash is known. Error: io.
[[nodiscard]] Result<ObjectBody> file_body(const std::string& file, std::string_view sha256);

/// `call` sends `body`, which must outlive it. Error: io (the file cannot be opened).
[[nodiscard]] Result<void> send_body(HttpCall& call, const ObjectBody& body);

}  // namespace axle::index
