#include "index/storage/storage_client.h"

#include <algorithm>
#include <ctime>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/base64.h"
#include "foundation/text/html.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "index/storage/storage_refusal.h"
#include "wheel/hash/sha256.h"

namespace axle::index {
namespace {

constexpr std::uint64_t max_answer = 64ULL << 10;
constexpr std::string_view no_bytes =
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// Joining thousands of parts takes minutes (Amazon S3 API reference, CompleteMultipartUpload).
constexpr unsigned patience_for_parts = 300;

bool is_hash(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// Our own mark, else what the storage computed of an object in one piece.
std::string told_sha256(const HttpResponse& response) {
  if (const auto own = response.said.find("x-amz-meta-sha256");
      own != response.said.end() && is_hash(own->second))
    return own->second;
  const auto computed = response.said.find("x-amz-checksum-sha256");
  if (computed == response.said.end()) return {};
  const auto bytes = text::decode_base64(computed->second);
  if (!bytes || bytes->size() != wheel::Sha256Digest{}.size()) return {};
  wheel::Sha256Digest digest{};
  std::ranges::copy(*bytes, digest.begin());
  return wheel::render_hex(digest);
}

bool is_success(const HttpResponse& response) {
  return response.status >= 200 && response.status < 300;
}

/// Of a part that was not taken. A storage that is busy is not one that refuses.
ErrorKind kind_of(const HttpResponse& response) {
  const std::string code = refusal_code(response);
  if (response.status == 404 && code == "NoSuchUpload") return ErrorKind::not_found;
  const bool busy = response.status >= 500 || code == "SlowDown" || code == "InternalError" ||
                    code == "ServiceUnavailable" || code == "RequestTimeout";
  return busy ? ErrorKind::io : ErrorKind::unsupported;
}

}  // namespace

struct StorageClient::Request {
  std::string method;
  std::string key;         ///< of an object below the prefix
  bool of_bucket = false;  ///< instead of an object
  QueryPairs query = {};
  std::map<std::string, std::string> headers = {};  ///< names in lower case
  std::optional<ObjectBody> body = {};
  std::uint64_t max_bytes = max_answer;
  unsigned patience_seconds = 0;
};

/// Reads the index that is in the storage, as any index is read.
class StorageClient::Reader final : public Transport {
 public:
  explicit Reader(StorageClient& client) : client_(client) {}
  Result<HttpResponse> fetch(const HttpRequest& request) override {
    return client_.transport_->fetch(with_signature(request));
  }
  Result<HttpResponse> download(const HttpRequest& request, const BodySink& sink) override {
    return client_.transport_->download(with_signature(request), sink);
  }

 private:
  [[nodiscard]] HttpRequest with_signature(HttpRequest request) const {
    const std::string below = client_.bucket_url_ + '/';
    if (!request.url.starts_with(below) || request.url.find_first_of("?#") != std::string::npos)
      return request;
    if (request.url.ends_with('/')) request.url += "index.json";
    request.call = client_.signed_call({.method = "GET", .key = {}}, request.url);
    return request;
  }

  StorageClient& client_;
};

StorageClient::StorageClient(StorageAccess access, std::unique_ptr<Transport> transport)
    : access_(std::move(access)),
      bucket_url_(bucket_url(access_)),
      transport_(std::move(transport)),
      reader_(std::make_unique<Reader>(*this)) {}

StorageClient::~StorageClient() = default;

std::string StorageClient::object_url(std::string_view key) const {
  return bucket_url_ + '/' + percent_encode(access_.address.prefix, true) +
         percent_encode(key, true);
}

std::string StorageClient::url(std::string_view key) const { return object_url(key); }

Error StorageClient::refusal(std::string_view action, std::string_view key,
                             const HttpResponse& response) const {
  return storage_refusal(action, object_url(key), response, access_);
}

std::shared_ptr<const HttpCall> StorageClient::signed_call(const Request& request,
                                                           const std::string& url) const {
  auto call = std::make_shared<HttpCall>();
  call->method = request.method;
  call->patience_seconds = request.patience_seconds;
  RequestToSign to_sign;
  to_sign.method = request.method;
  const UrlParts parts = split_url(url);
  to_sign.path = parts.path;
  to_sign.query = request.query;
  to_sign.payload_sha256 = request.body ? request.body->sha256 : std::string(no_bytes);
  to_sign.headers = {{"host", std::string(parts.authority)},
                     {"x-amz-content-sha256", to_sign.payload_sha256}};
  if (!access_.keys.token.empty())
    to_sign.headers.emplace_back("x-amz-security-token", access_.keys.token);
  for (const auto& header : request.headers) to_sign.headers.emplace_back(header);
  call->headers = [to_sign, keys = access_.keys, region = access_.region] {
    RequestToSign now = to_sign;
    const std::string time = signing_time(std::time(nullptr));
    now.headers.emplace_back("x-amz-date", time);
    const std::string signature = sign_request(now, keys, {region}, time);
    std::vector<std::string> lines;
    for (const auto& [name, value] : now.headers) {
      if (name != "host") lines.push_back(fmt::format("{}: {}", name, value));
    }
    lines.push_back("Authorization: " + signature);
    return lines;
  };
  return call;
}

Result<HttpResponse> StorageClient::send(const Request& request) {
  std::string url = request.of_bucket ? bucket_url_ : object_url(request.key);
  if (request.of_bucket && split_url(url).path.empty()) url += '/';
  auto call = std::make_shared<HttpCall>(*signed_call(request, url));
  if (!request.query.empty()) url += '?' + render_query(request.query);
  if (request.body) {
    if (auto given = send_body(*call, *request.body); !given) return std::unexpected(given.error());
  }
  HttpRequest sent;
  sent.url = std::move(url);
  sent.max_bytes = request.max_bytes;
  sent.call = std::move(call);
  return transport_->fetch(sent);
}

Result<std::optional<StoredObject>> StorageClient::head(std::string_view key) {
  auto response = send({.method = "HEAD",
                        .key = std::string(key),
                        .headers = {{"x-amz-checksum-mode", "ENABLED"}},
                        .max_bytes = std::numeric_limits<std::uint64_t>::max()});
  if (!response) return std::unexpected(std::move(response.error()));
  if (response->status == 404) return std::nullopt;
  if (!is_success(*response)) return std::unexpected(refusal("read", key, *response));
  return StoredObject{told_sha256(*response), response->total_size.value_or(0),
                      std::move(response->etag)};
}

Result<std::optional<StoredText>> StorageClient::get(std::string_view key,
                                                     std::uint64_t max_bytes) {
  auto response = send({.method = "GET", .key = std::string(key), .max_bytes = max_bytes});
  if (!response) return std::unexpected(std::move(response.error()));
  if (response->status == 404 && refusal_code(*response) != "NoSuchBucket") return std::nullopt;
  if (!is_success(*response)) return std::unexpected(refusal("read", key, *response));
  return StoredText{std::move(response->body), std::move(response->etag)};
}

Result<bool> StorageClient::has_any(std::string_view key_begin) {
  auto response = send({.method = "GET",
                        .key = {},
                        .of_bucket = true,
                        .query = {{"list-type", "2"},
                                  {"max-keys", "1"},
                                  {"prefix", access_.address.prefix + std::string(key_begin)}}});
  if (!response) return std::unexpected(std::move(response.error()));
  if (!is_success(*response)) return std::unexpected(refusal("list", key_begin, *response));
  return !xml_text(response->body, "Key").empty();
}

Result<std::optional<std::string>> StorageClient::put(std::string_view key, const ObjectKind& kind,
                                                      const ObjectBody& body,
                                                      const PutCondition& condition) {
  Request request{
      .method = "PUT",
      .key = std::string(key),
      .headers = {{"content-type", std::string(kind.type)}, {"x-amz-meta-sha256", body.sha256}},
      .body = body};
  if (kind.changes) request.headers.emplace("cache-control", "no-cache");
  const bool conditional = condition.is_set && !is_unconditional_;
  if (conditional && condition.etag.empty()) request.headers.emplace("if-none-match", "*");
  if (conditional && !condition.etag.empty()) request.headers.emplace("if-match", condition.etag);
  auto response = send(request);
  if (!response) return std::unexpected(std::move(response.error()));
  if (is_success(*response)) return std::move(response->etag);
  const std::string code = refusal_code(*response);
  if (conditional && (response->status == 501 || code == "NotImplemented")) {
    is_unconditional_ = true;
    return put(key, kind, body);
  }
  const bool changed = response->status == 412 || code == "ConditionalRequestConflict" ||
                       (response->status == 404 && code == "NoSuchKey");
  if (conditional && changed) {
    Error error = refusal("write", key, *response);
    error.kind = ErrorKind::conflict;
    error.hint = "another publisher wrote it meanwhile: run the command again";
    return std::unexpected(std::move(error));
  }
  const bool no_such_keys = response->status == 501 || code == "XMinioInvalidObjectName" ||
                            code == "InvalidObjectName" || code == "NotImplemented" ||
                            code == "XMinioObjectExistsAsDirectory";
  if (key.ends_with('/') && no_such_keys) return std::nullopt;
  return std::unexpected(refusal("write", key, *response));
}

Result<void> StorageClient::remove(std::string_view key) {
  auto response = send({.method = "DELETE", .key = std::string(key)});
  if (!response) return std::unexpected(std::move(response.error()));
  const bool gone = is_success(*response) ||
                    (response->status == 404 && refusal_code(*response) != "NoSuchBucket");
  if (gone) return {};
  return std::unexpected(refusal("remove", key, *response));
}

Result<std::string> StorageClient::begin_parts(std::string_view key, const ObjectKind& kind,
                                               std::string_view sha256) {
  auto response = send({.method = "POST",
                        .key = std::string(key),
                        .query = {{"uploads", ""}},
                        .headers = {{"content-type", std::string(kind.type)},
                                    {"x-amz-meta-sha256", std::string(sha256)}},
                        .body = text_body({})});
  if (!response) return std::unexpected(std::move(response.error()));
  if (!is_success(*response)) return std::unexpected(refusal("write", key, *response));
  std::string upload = xml_text(response->body, "UploadId");
  if (upload.empty() || upload.size() > 1024) {
    return fail(ErrorKind::io,
                redact_url(url(key)) + ": the storage gives no id for an upload in parts",
                "check AWS_ENDPOINT_URL_S3: is it the address of a storage of S3's kind?");
  }
  return upload;
}

Result<std::string> StorageClient::put_part(std::string_view key, std::string_view upload,
                                            unsigned number, const ObjectBody& body) {
  auto response =
      send({.method = "PUT",
            .key = std::string(key),
            .query = {{"partNumber", std::to_string(number)}, {"uploadId", std::string(upload)}},
            .body = body});
  if (!response) return std::unexpected(std::move(response.error()));
  Error refused = refusal("write", key, *response);
  refused.kind = kind_of(*response);
  if (!is_success(*response)) return std::unexpected(std::move(refused));
  if (response->etag.empty() || response->etag.size() > 256)
    return fail(ErrorKind::io, redact_url(url(key)) + ": the storage gives no ETag for a part");
  return std::move(response->etag);
}

Result<void> StorageClient::complete_parts(std::string_view key, std::string_view upload,
                                           std::span<const std::string> etags) {
  std::string list = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (std::size_t i = 0; i < etags.size(); ++i) {
    list += fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1,
                        text::escape_html(etags[i]));
  }
  list += "</CompleteMultipartUpload>";
  auto response = send({.method = "POST",
                        .key = std::string(key),
                        .query = {{"uploadId", std::string(upload)}},
                        .headers = {{"content-type", "application/xml"}},
                        .body = text_body(std::move(list)),
                        .patience_seconds = patience_for_parts});
  if (!response) return std::unexpected(std::move(response.error()));
  Error refused = refusal("write", key, *response);
  refused.kind = kind_of(*response);
  // A status that is sent before the parts are joined may be 200, and an error come after it.
  const bool joined = response->body.find("<CompleteMultipartUploadResult") != std::string::npos;
  if (is_success(*response) && joined) return {};
  return std::unexpected(std::move(refused));
}

Result<void> StorageClient::abort_parts(std::string_view key, std::string_view upload) {
  auto response = send(
      {.method = "DELETE", .key = std::string(key), .query = {{"uploadId", std::string(upload)}}});
  if (!response) return std::unexpected(std::move(response.error()));
  if (is_success(*response) || response->status == 404) return {};
  return std::unexpected(refusal("write", key, *response));
}

}  // namespace axle::index
