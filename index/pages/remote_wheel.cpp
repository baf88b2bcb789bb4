#include "index/pages/remote_wheel.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "foundation/report/report.h"
#include "index/http/kept_form.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "index/pages/page_request.h"
#include "index/pages/range_source.h"
#include "wheel/core_metadata.h"
#include "wheel/hash/sha256.h"
#include "wheel/wheel_file.h"

namespace axle::index {
namespace {

constexpr std::string_view metadata_member = "METADATA";
constexpr std::string_view variant_member = "variant.json";
constexpr std::uint64_t max_metadata_bytes = 16ULL << 20;
constexpr std::uint64_t max_wheel_bytes = 64ULL << 30;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using TemporaryFile = std::unique_ptr<std::FILE, CloseFile>;

/// A complete download in an unnamed file: wheels may be larger than memory.
class SpooledSource final : public wheel::ByteSource {
 public:
  SpooledSource(TemporaryFile file, std::uint64_t size) : file_(std::move(file)), size_(size) {}
  std::uint64_t size() const override { return size_; }
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    if (std::fseek(file_.get(), static_cast<long>(offset), SEEK_SET) != 0 ||
        std::fread(out.data(), 1, out.size(), file_.get()) != out.size()) {
      return fail(ErrorKind::io, fmt::format("cannot read the temporary copy: {} bytes at {} of {}",
                                             out.size(), offset, size_));
    }
    return {};
  }

 private:
  TemporaryFile file_;
  std::uint64_t size_;
};

Error hash_mismatch(const PublishedFile& file, std::string_view got) {
  if (file.hash.source == wheel::HashSource::url) {
    return {
        ErrorKind::mismatch,
        fmt::format("{} has the sha256 {}, the given URL has #sha256={}", redact_url(file.url), got,
                    file.hash.sha256()),
        "correct the hash in the URL; if it is right, the file was replaced: do not install it"};
  }
  return {ErrorKind::mismatch,
          fmt::format("{} has the sha256 {}, but the index gives {}", redact_url(file.url), got,
                      file.hash.sha256()),
          "the file or the index is damaged or has been tampered with; do not install it"};
}

Result<std::unique_ptr<wheel::ByteSource>> download_whole(const PublishedFile& file,
                                                          Transport& transport) {
  TemporaryFile copy(std::tmpfile());
  if (!copy) {
    return fail(ErrorKind::io,
                fmt::format("cannot create a temporary file: {}", std::strerror(errno)));
  }
  HttpRequest request;
  request.url = file.url;
  request.max_bytes = file.size.value_or(max_wheel_bytes);
  wheel::Sha256 hash;
  std::uint64_t size = 0;
  const Result<HttpResponse> response =
      transport.download(request, [&](std::span<const std::byte> bytes) -> Result<void> {
        if (std::fwrite(bytes.data(), 1, bytes.size(), copy.get()) != bytes.size()) {
          return fail(ErrorKind::io, fmt::format("cannot write a temporary copy of {}: {}",
                                                 redact_url(file.url), std::strerror(errno)));
        }
        hash.update(bytes);
        size += bytes.size();
        return {};
      });
  if (!response) return std::unexpected(response.error());
  if (response->status != 200) return std::unexpected(status_error(file.url, *response));
  const std::string digits = wheel::render_hex(hash.finish());
  if (!file.hash.sha256().empty() && digits != file.hash.sha256()) {
    return std::unexpected(hash_mismatch(file, digits));
  }
  // If the wheel is installed, this was its download.
  if (std::fflush(copy.get()) == 0)
    transport.keep_download(file.url, *response, ::fileno(copy.get()));
  return std::make_unique<SpooledSource>(std::move(copy), size);
}

HttpRequest metadata_request(const PublishedFile& file) {
  HttpRequest request;
  request.url = append_to_path(file.url, ".metadata");
  request.sha256 = file.metadata_sha256;
  request.max_bytes = max_metadata_bytes;
  return request;
}

HttpRequest listed_request(const PublishedFile& file, std::uint64_t max_bytes) {
  HttpRequest request;
  request.url = file.url;
  request.sha256 = file.hash.sha256();
  request.max_bytes = max_bytes;
  return request;
}

/// What is kept of a published METADATA: this line, a checksum in hexadecimal digits, a line end,
/// the text. Another number where `essential_metadata` gives another text.
constexpr std::string_view kept_format = "axle metadata 1\n";
constexpr std::size_t checksum_digits = 16;

std::string checksum_of(std::string_view identity, std::string_view text) {
  return fmt::format("{:0{}x}", form_checksum(form_checksum(0, identity), text), checksum_digits);
}

HasForm reads_kept(std::optional<std::string>& kept) {
  return [&kept](const KeptForm& form) {
    kept = form.size > max_metadata_bytes ? std::nullopt : read_whole_form(form);
    constexpr std::size_t begin = kept_format.size() + checksum_digits + 1;
    if (!kept || kept->size() < begin || !kept->starts_with(kept_format)) return false;
    const std::string_view text = std::string_view(*kept).substr(begin);
    if (kept->compare(kept_format.size(), checksum_digits, checksum_of(form.identity, text)) != 0 ||
        (*kept)[begin - 1] != '\n') {
      return false;
    }
    kept->erase(0, begin);
    return true;
  };
}

/// What is used again is kept without what is not read: descriptions are long.
void keep_metadata(const HttpResponse& response, Transport& transport) {
  if (!response.reused || response.copy.path.empty()) return;
  const auto metadata = wheel::parse_core_metadata(response.body, response.copy.path);
  const auto text = metadata ? wheel::essential_metadata(*metadata) : std::nullopt;
  if (!text) return;
  std::string form(kept_format);
  form.append(checksum_of(response.copy.identity, *text)).append("\n").append(*text);
  transport.keep_form(response.copy, form);
}

/// The published metadata file, or nothing if the index announced one and has none or a different
/// one.
Result<std::optional<std::string>> fetch_published_metadata(const PublishedFile& file,
                                                            std::string_view index,
                                                            Transport& transport, Report& report) {
  const HttpRequest request = metadata_request(file);
  std::optional<std::string> kept;
  Result<HttpResponse> response = transport.fetch_or_form(request, reads_kept(kept));
  if (!response) return std::unexpected(std::move(response.error()));
  if (response->has_form) return kept;
  if (response->status == 404) return std::nullopt;
  if (response->status != 200) return std::unexpected(status_error(request.url, *response));
  keep_metadata(*response, transport);
  const bool is_cached = !response->copy.path.empty();
  if (is_cached || file.metadata_sha256.empty()) return std::move(response->body);
  const std::string digits = wheel::render_hex(wheel::sha256(response->body));
  if (digits == file.metadata_sha256) return std::move(response->body);
  report.warn(fmt::format("{}.metadata has the sha256 {}, but {} gives {}: the metadata is read "
                          "from the wheel itself",
                          file.filename, digits, index, file.metadata_sha256),
              "report it to the index's operator");
  return std::nullopt;
}

Result<std::unique_ptr<wheel::ByteSource>> open_any(const PublishedFile& file,
                                                    Transport& transport) {
  if (is_file_url(file.url)) {
    Result<std::string> path = file_path(file.url);
    if (!path) return std::unexpected(std::move(path.error()));
    return wheel::open_file_source(*path);
  }
  Result<std::unique_ptr<wheel::ByteSource>> ranges = open_ranges(file.url, transport);
  if (!ranges || *ranges) return ranges;
  return download_whole(file, transport);
}

/// The key under which a small text out of a wheel is cached, if the index gives the wheel's hash.
/// It includes the URL: another index may give wrong data for a file with the same hash.
std::optional<std::string> key_of(std::string_view member, const PublishedFile& file) {
  if (file.hash.sha256().empty() || !is_http_url(file.url)) return std::nullopt;
  return fmt::format("{} in {} {}", member, file.hash.sha256(), file.url);
}

std::optional<std::string> recall(const std::optional<std::string>& key, Transport& transport) {
  if (!key) return std::nullopt;
  return transport.recall(*key).value_or(std::nullopt);
}

/// Opens the archive by its directory and stores what may be requested next: one read serves both.
Result<wheel::WheelFile> open_and_keep(const PublishedFile& file, const wheel::WheelName& name,
                                       Transport& transport, Report& report) {
  Result<std::unique_ptr<wheel::ByteSource>> source = open_remote(file, transport);
  if (!source) return std::unexpected(std::move(source.error()));
  Result<wheel::WheelFile> wheel =
      wheel::open_wheel(std::move(*source), name, redact_url(file.url), report, true);
  if (!wheel) return wheel;
  if (const auto key = key_of(metadata_member, file)) transport.keep(*key, wheel->metadata_text);
  if (const auto key = key_of(variant_member, file); key && wheel->variant) {
    transport.keep(*key, wheel->variant_text);
  }
  return wheel;
}

}  // namespace

Result<std::unique_ptr<wheel::ByteSource>> open_remote(const PublishedFile& file,
                                                       Transport& transport) {
  Result<std::unique_ptr<wheel::ByteSource>> source = open_any(file, transport);
  if (source && file.size && (*source)->size() != *file.size) {
    return fail(ErrorKind::mismatch,
                fmt::format("{} has {} bytes, but the index gives {}", redact_url(file.url),
                            (*source)->size(), *file.size),
                "the file or the index is damaged; do not install it");
  }
  return source;
}

Result<std::string> fetch_metadata(const PublishedFile& file, const wheel::WheelName& name,
                                   std::string_view index, Transport& transport, Report& report) {
  std::optional<Error> trouble;
  if (file.has_metadata) {
    auto text = fetch_published_metadata(file, index, transport, report);
    if (text && *text) return std::move(**text);
    if (!text) trouble = std::move(text.error());
  }
  if (auto kept = recall(key_of(metadata_member, file), transport)) return std::move(*kept);
  if (trouble) return std::unexpected(std::move(*trouble));
  CollectedReport ignored;  // the installer opens the wheel again and reports messages then
  Result<wheel::WheelFile> wheel = open_and_keep(file, name, transport, ignored);
  if (!wheel) return std::unexpected(std::move(wheel.error()));
  return std::move(wheel->metadata_text);
}

std::optional<std::string> prefetch_metadata(const PublishedFile& file, Transport& transport) {
  if (file.has_metadata) {
    std::optional<std::string> kept;
    if (transport.prefetch_or_form(metadata_request(file), reads_kept(kept), nullptr)) return kept;
  } else if (is_http_url(file.url) && !recall(key_of(metadata_member, file), transport)) {
    prefetch_ranges(file.url, transport);
  }
  return std::nullopt;
}

std::optional<std::string> arrived_metadata(const PublishedFile& file, Transport& transport) {
  if (!file.has_metadata || !transport.has_arrived(metadata_request(file))) return std::nullopt;
  Result<HttpResponse> response = transport.fetch(metadata_request(file));
  if (!response || response->status != 200) return std::nullopt;
  keep_metadata(*response, transport);
  const bool listed = file.metadata_sha256.empty() ||
                      wheel::render_hex(wheel::sha256(response->body)) == file.metadata_sha256;
  return listed ? std::optional(std::move(response->body)) : std::nullopt;
}

void prefetch_listed(const PublishedFile& file, Transport& transport, std::uint64_t max_bytes) {
  transport.prefetch(listed_request(file, max_bytes));
}

Result<wheel::VariantMetadata> fetch_own_variant(const PublishedFile& file,
                                                 const wheel::WheelName& name, Transport& transport,
                                                 Report& report) {
  if (auto kept = recall(key_of(variant_member, file), transport)) {
    auto variant = wheel::parse_variant_metadata(*kept, redact_url(file.url), report);
    const bool sound =
        variant && variant->variants.size() == 1 && variant->variants.contains(name.label);
    if (sound) return variant;
  }
  Result<wheel::WheelFile> wheel = open_and_keep(file, name, transport, report);
  if (!wheel) return std::unexpected(std::move(wheel.error()));
  if (!wheel->variant) {
    return fail(ErrorKind::unsupported,
                fmt::format("{} is a plain wheel and has no variant", redact_url(file.url)));
  }
  return std::move(*wheel->variant);
}

Result<std::string> fetch_listed(const PublishedFile& file, Transport& transport,
                                 std::uint64_t max_bytes) {
  Result<HttpResponse> response = transport.fetch(listed_request(file, max_bytes));
  if (!response) return std::unexpected(std::move(response.error()));
  if (response->status != 200) return std::unexpected(status_error(file.url, *response));
  if (!file.hash.sha256().empty()) {
    const std::string digits = wheel::render_hex(wheel::sha256(response->body));
    if (digits != file.hash.sha256()) {
      return std::unexpected(hash_mismatch(file, digits));
    }
  }
  return std::move(response->body);
}

}  // namespace axle::index
