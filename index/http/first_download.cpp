#include "index/http/first_download.h"

#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "index/http/url.h"
#include "index/pages/page_entry.h"

namespace axle::index {
namespace {

std::string key_of(std::string_view url) { return fmt::format("first download of {}", url); }

/// A server's data about a file, without the file.
std::string outline(std::uint64_t size, std::string_view etag) {
  return fmt::format("{} {}", size, etag);
}

/// The stored data of a first download.
struct KeptDownload {
  std::string sha256;
  std::string outline;
};

Result<std::optional<KeptDownload>> recall(std::string_view url, Transport& transport) {
  if (!is_http_url(url)) return std::nullopt;
  const auto text = transport.recall(key_of(url));
  if (!text) return std::unexpected(text.error());
  if (!*text) return std::nullopt;
  const std::size_t end = (*text)->find('\n');
  std::string sha256 = sha256_digits(std::string_view(**text).substr(0, end));
  if (sha256.empty() || end == std::string::npos) return std::nullopt;
  return KeptDownload{std::move(sha256), (*text)->substr(end + 1)};
}

}  // namespace

std::optional<std::string> first_sha256(std::string_view url, Transport& transport) {
  auto kept = recall(url, transport);
  if (!kept || !*kept) return std::nullopt;
  return std::move((*kept)->sha256);
}

std::optional<std::uint64_t> first_size(std::string_view url, Transport& transport) {
  auto kept = recall(url, transport);
  if (!kept || !*kept) return std::nullopt;
  const std::string& outline = (*kept)->outline;
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(outline.data(), outline.data() + outline.size(), size);
  if (error != std::errc() || end == outline.data()) return std::nullopt;
  return size;
}

Result<bool> contradicts_first(std::string_view url, const DownloadMark& mark,
                               Transport& transport) {
  const auto kept = recall(url, transport);
  if (!kept) return std::unexpected(kept.error());
  return *kept && (*kept)->sha256 != mark.sha256;
}

bool keep_first_download(std::string_view url, const DownloadMark& mark, Transport& transport) {
  return is_http_url(url) &&
         transport.keep(key_of(url), mark.sha256 + '\n' + outline(mark.size, mark.etag));
}

bool seems_changed(const std::string& url, Transport& transport) {
  const auto kept = recall(url, transport);
  if (!kept || !*kept) return true;
  HttpRequest request;
  request.url = url;
  request.range = ByteRange{0, 1};
  request.max_bytes = 1;
  const Result<HttpResponse> response = transport.fetch(request);
  if (!response || (response->status != 200 && response->status != 206)) return false;
  return response->total_size && outline(*response->total_size, response->etag) != (*kept)->outline;
}

}  // namespace axle::index
