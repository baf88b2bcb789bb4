#include "index/pages/range_source.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "index/http/redaction.h"
#include "index/pages/page_request.h"

namespace axle::index {
namespace {

/// The end of a zip archive may have 65,633 bytes (end record with the longest comment, zip64
/// records), and the reader requests all of them first.
constexpr std::uint64_t tail_bytes = (64U << 10) + 1024;
/// Small reads (a local header, then its content) share one request.
constexpr std::uint64_t least_block_bytes = 32U << 10;
constexpr std::uint64_t largest_read_bytes = 256ULL << 20;

struct Block {
  std::uint64_t offset = 0;
  std::string bytes;

  [[nodiscard]] bool covers(std::uint64_t from, std::size_t count) const {
    return from >= offset && from - offset <= bytes.size() &&
           count <= bytes.size() - (from - offset);
  }
};

class RangeSource final : public wheel::ByteSource {
 public:
  RangeSource(std::string url, Transport& transport, HttpResponse&& tail, std::uint64_t size)
      : url_(std::move(url)), transport_(transport), size_(size), etag_(std::move(tail.etag)) {
    tail_.offset = size - tail.body.size();
    tail_.bytes = std::move(tail.body);
  }

  std::uint64_t size() const override { return size_; }

  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    if (offset > size_ || out.size() > size_ - offset) {
      return fail(ErrorKind::malformed, fmt::format("{} has {} bytes; {} at {} do not exist",
                                                    redact_url(url_), size_, out.size(), offset));
    }
    if (tail_.covers(offset, out.size())) return copy(tail_, offset, out);
    if (!block_.covers(offset, out.size())) {
      if (Result<void> fetched = fetch_block(offset, out.size()); !fetched) return fetched;
    }
    return copy(block_, offset, out);
  }

 private:
  static Result<void> copy(const Block& block, std::uint64_t offset, std::span<std::byte> out) {
    if (!out.empty()) {
      std::memcpy(out.data(), block.bytes.data() + (offset - block.offset), out.size());
    }
    return {};
  }

  Result<void> fetch_block(std::uint64_t offset, std::uint64_t count) {
    if (count > largest_read_bytes) {
      return fail(ErrorKind::io, fmt::format("{} bytes of {} are too many to read at once", count,
                                             redact_url(url_)));
    }
    HttpRequest request;
    request.url = url_;
    request.range = ByteRange{offset, std::min(std::max(count, least_block_bytes), size_ - offset)};
    request.max_bytes = request.range->length;
    Result<HttpResponse> response = transport_.fetch(request);
    if (!response) return std::unexpected(std::move(response.error()));
    if (response->status == 200) {
      return fail(ErrorKind::unsupported,
                  redact_url(url_) + ": the server supports byte ranges only sometimes",
                  "report it to its operator, or use another index");
    }
    if (response->status != 206) return std::unexpected(status_error(url_, *response));
    const bool same = (!response->total_size || *response->total_size == size_) &&
                      (etag_.empty() || response->etag.empty() || response->etag == etag_);
    if (!same || response->body.size() != request.range->length) {
      return fail(ErrorKind::mismatch, redact_url(url_) + " changed while it was being read",
                  "try again");
    }
    block_ = {offset, std::move(response->body)};
    return {};
  }

  std::string url_;
  Transport& transport_;
  std::uint64_t size_;
  std::string etag_;
  Block tail_;
  Block block_;
};

/// Some servers reject the form "last N bytes", others ignore it.
bool gave_no_range(const HttpResponse& response) {
  const int status = response.status;
  return status == 200 || status == 400 || status == 405 || status == 416 || status == 501;
}

HttpRequest tail_of(const std::string& url) {
  HttpRequest request;
  request.url = url;
  request.tail = tail_bytes;
  request.max_bytes = tail_bytes;
  return request;
}

/// The tail by its offset, computed from the size in the answer for the first byte.
Result<HttpResponse> fetch_tail_by_offset(HttpRequest request, Transport& transport) {
  request.tail.reset();
  request.range = ByteRange{0, 1};
  Result<HttpResponse> first = transport.fetch(request);
  if (!first || first->status != 206) return first;
  if (!first->total_size) {
    first->status =
        200;  // of no use: a server that does not report the size does not support ranges
    return first;
  }
  const std::uint64_t size = *first->total_size;
  const std::uint64_t length = std::min(size, tail_bytes);
  request.range = ByteRange{size - length, length};
  Result<HttpResponse> tail = transport.fetch(request);
  if (tail && tail->status == 206) tail->total_size = size;
  return tail;
}

}  // namespace

void prefetch_ranges(const std::string& url, Transport& transport) {
  transport.prefetch(tail_of(url));
}

Result<std::unique_ptr<wheel::ByteSource>> open_ranges(const std::string& url,
                                                       Transport& transport) {
  const HttpRequest request = tail_of(url);
  Result<HttpResponse> tail = transport.fetch(request);
  if (tail && gave_no_range(*tail)) tail = fetch_tail_by_offset(request, transport);
  if (!tail) return std::unexpected(std::move(tail.error()));
  if (gave_no_range(*tail)) return nullptr;
  if (tail->status != 206) return std::unexpected(status_error(url, *tail));
  const std::uint64_t size = tail->total_size.value_or(tail->body.size());
  return std::make_unique<RangeSource>(url, transport, std::move(*tail), size);
}

}  // namespace axle::index
