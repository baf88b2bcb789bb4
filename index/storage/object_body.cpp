#include "index/storage/object_body.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "wheel/hash/sha256.h"
#include "wheel/zip/zip_reader.h"

namespace axle::index {

ObjectKind object_kind(std::string_view path) {
  if (path.ends_with('/') || path.ends_with(".html")) return {"text/html; charset=utf-8", true};
  if (path.ends_with("/index.json")) return {"application/vnd.pypi.simple.v1+json", true};
  if (path.ends_with(".css")) return {"text/css; charset=utf-8", true};
  if (path.ends_with(".js")) return {"text/javascript; charset=utf-8", true};
  // That of a release changes with each variant.
  if (path.ends_with("-variants.json")) return {"application/json", true};
  if (path.ends_with(".provenance")) return {"application/vnd.pypi.integrity.v1+json"};
  if (path.ends_with(".metadata")) return {"text/plain; charset=utf-8"};
  return {"application/octet-stream"};
}

ObjectBody text_body(std::string text) {
  ObjectBody body;
  body.size = text.size();
  body.sha256 = wheel::render_hex(wheel::sha256(text));
  body.text = std::move(text);
  return body;
}

Result<ObjectBody> file_body(const std::string& file, std::string_view sha256) {
  std::error_code error;
  ObjectBody body;
  body.file = file;
  body.size = std::filesystem::file_size(file, error);
  body.sha256 = sha256;
  if (!error) return body;
  return fail(ErrorKind::io, fmt::format("cannot read {}: {}", file, error.message()),
              "check the path and its permissions");
}

Result<void> send_body(HttpCall& call, const ObjectBody& body) {
  std::shared_ptr<wheel::ByteSource> source;
  if (!body.file.empty()) {
    auto opened = wheel::open_file_source(body.file);
    if (!opened) return std::unexpected(std::move(opened.error()));
    source = std::move(*opened);
  }
  call.has_body = true;
  call.body_size = body.size;
  call.read_body = [&body, source](std::uint64_t offset, std::span<std::byte> part) {
    if (source != nullptr) return source->read(body.offset + offset, part).has_value();
    const auto bytes = std::as_bytes(std::span(body.text));
    std::ranges::copy(bytes.subspan(offset, part.size()), part.begin());
    return true;
  };
  return {};
}

}  // namespace axle::index
