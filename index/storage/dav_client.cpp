#include "index/storage/dav_client.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/base64.h"
#include "index/http/answer_words.h"
#include "index/http/redaction.h"
#include "index/http/url.h"

namespace axle::index {
namespace {

constexpr std::uint64_t longest_answer = 64ULL << 10;
constexpr std::size_t longest_token = 512;
/// A server may write a large file to its place before it answers.
constexpr unsigned patience_for_files = 300;
constexpr int collection_attempts = 5;
constexpr auto collection_pause = std::chrono::milliseconds(50);

constexpr std::string_view lock_request =
    "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
    "<D:lockinfo xmlns:D=\"DAV:\"><D:lockscope><D:exclusive/></D:lockscope>"
    "<D:locktype><D:write/></D:locktype><D:owner>axle</D:owner></D:lockinfo>\n";

std::string encoded_login(const Credential& login) {
  return text::encode_base64(login.user + ':' + login.password);
}

/// 207 says that something was not done.
bool is_done(const HttpResponse& response) {
  return response.status >= 200 && response.status < 300 && response.status != 207;
}

/// "<opaquelocktoken:…>" -> what is between; empty: it is none.
std::string token_in(const HttpResponse& response) {
  const auto said = response.said.find("lock-token");
  if (said == response.said.end()) return {};
  std::string_view text = text::trim_ascii(said->second);
  if (!text.starts_with('<') || !text.ends_with('>')) return {};
  text = text.substr(1, text.size() - 2);
  const bool plain =
      !text.empty() && text.size() <= longest_token && std::ranges::all_of(text, [](char c) {
        return c > ' ' && c < '\x7f' && c != '<' && c != '>';
      });
  return plain ? std::string(text) : std::string();
}

std::string hint_for(const HttpResponse& response, std::string_view action, bool has_login) {
  switch (response.status) {
    case 301:
    case 302:
    case 303:
    case 307:
    case 308:
      return "nothing is sent elsewhere: give the address that it names";
    case 401:
      return has_login ? "check the user name and password: only Basic authentication is supported"
                       : "give a login: an entry in ~/.netrc, or a user name in the address";
    case 403:
      return "check whether the login may write there, and the permissions of the server's folder";
    case 404:
    case 405:
    case 501:
      return "check the address: is it a folder of a WebDAV server?";
    case 413:
      return "the server limits the size of what it takes (Apache: LimitRequestBody, nginx: "
             "client_max_body_size)";
    case 423:
      return "somebody has locked it: run the command again";
    case 502:
      return action == "move"
                 ? "behind a proxy the server may know another address of itself: let the proxy "
                   "change the header Destination to it"
                 : "run the command again, or ask the operator of the server";
    case 507:
      return "free space on the server";
    default:
      return response.status >= 500
                 ? "look into the log of the server: its disk may be full, its folder may not be "
                   "writable for it, or it has nowhere to keep locks (Apache: DavLockDB)"
                 : "check the address: is it a folder of a WebDAV server?";
  }
}

}  // namespace

struct DavClient::Request {
  std::string method;
  std::string url;
  std::map<std::string, std::string> headers = {};
  const ObjectBody* body = nullptr;
  std::uint64_t max_bytes = longest_answer;
};

/// Reads the index that is on the server, as any index is read.
class DavClient::Reader final : public Transport {
 public:
  explicit Reader(DavClient& client) : client_(client) {}
  Result<HttpResponse> fetch(const HttpRequest& request) override {
    return client_.transport_->fetch(with_login(request));
  }
  Result<HttpResponse> download(const HttpRequest& request, const BodySink& sink) override {
    return client_.transport_->download(with_login(request), sink);
  }

 private:
  [[nodiscard]] HttpRequest with_login(HttpRequest request) const {
    if (!request.url.starts_with(client_.url(""))) return request;
    if (request.url.ends_with('/')) request.url += "index.json";
    request.call = client_.authorized_call("GET", {});
    return request;
  }

  DavClient& client_;
};

DavClient::DavClient(DavAccess access, std::unique_ptr<Transport> transport)
    : access_(std::move(access)),
      transport_(std::move(transport)),
      reader_(std::make_unique<Reader>(*this)) {}

DavClient::~DavClient() = default;

std::string DavClient::url(std::string_view path) const {
  return access_.url + '/' + percent_encode(path, true);
}

std::shared_ptr<HttpCall> DavClient::authorized_call(
    std::string method, const std::map<std::string, std::string>& headers) const {
  std::vector<std::string> lines;
  if (!access_.login.empty()) {
    lines.push_back("Authorization: Basic " + encoded_login(access_.login));
  }
  for (const auto& [name, value] : headers) lines.push_back(fmt::format("{}: {}", name, value));
  auto call = std::make_shared<HttpCall>();
  call->method = std::move(method);
  call->headers = [lines] { return lines; };
  return call;
}

Result<HttpResponse> DavClient::send(const Request& request) {
  const auto call = authorized_call(request.method, request.headers);
  if (request.body != nullptr) {
    if (auto given = send_body(*call, *request.body); !given) return std::unexpected(given.error());
    call->patience_seconds = patience_for_files;
  }
  HttpRequest sent;
  sent.url = request.url;
  sent.max_bytes = request.max_bytes;
  sent.call = call;
  return transport_->fetch(sent);
}

Error DavClient::refusal(std::string_view action, std::string_view url,
                         const HttpResponse& response) const {
  std::string words = answer_words(response);
  if (const auto to = response.said.find("location");
      to != response.said.end() && response.status >= 300 && response.status < 400)
    words = "it is at " + redact_url(to->second);
  // A server may repeat what it got.
  for (const std::string& secret : {access_.login.password, encoded_login(access_.login)}) {
    for (std::size_t at = words.find(secret); !secret.empty() && at != std::string::npos;
         at = words.find(secret, at + 3))
      words.replace(at, secret.size(), "***");
  }
  return {ErrorKind::io,
          fmt::format("{}: the server does not let us {} it: HTTP {}{}{}", redact_url(url), action,
                      response.status, words.empty() ? "" : ": ", redact_url(words)),
          hint_for(response, action, !access_.login.empty())};
}

Result<std::optional<DavFile>> DavClient::head(std::string_view path) {
  const auto response = send(
      {.method = "HEAD", .url = url(path), .max_bytes = std::numeric_limits<std::uint64_t>::max()});
  if (!response) return std::unexpected(response.error());
  if (response->status == 404) return std::nullopt;
  if (!is_done(*response)) return std::unexpected(refusal("read", url(path), *response));
  return DavFile{response->total_size};
}

Result<std::optional<DavText>> DavClient::get(std::string_view path, std::uint64_t max_bytes) {
  auto response = send({.method = "GET",
                        .url = url(path),
                        .headers = {{"Cache-Control", "no-cache"}},
                        .max_bytes = max_bytes});
  if (!response) return std::unexpected(std::move(response.error()));
  if (response->status == 404) return std::nullopt;
  if (response->status != 200) return std::unexpected(refusal("read", url(path), *response));
  return DavText{std::move(response->body), std::move(response->etag)};
}

Result<bool> DavClient::make_folder(std::string_view path) {
  const std::string folder = path.empty() ? access_.url : url(path);
  // The server's own root is there.
  const std::size_t root = folder.find('/', folder.find("//") + 2);
  return root == std::string::npos ? Result<bool>(false) : make_collection(folder, root);
}

Result<bool> DavClient::make_collection(const std::string& folder, std::size_t root) {
  const Request request{.method = "MKCOL", .url = folder + '/'};
  const std::size_t parent_end = folder.rfind('/');
  for (int attempt = 1;; ++attempt) {
    const auto response = send(request);
    if (!response) return std::unexpected(response.error());
    if (is_done(*response)) return true;
    if (response->status == 405) return false;
    const bool lacks_parent = response->status == 409;  // RFC 4918, 9.3.1
    // Of two that make it at the same moment, apache says 403 to one.
    if ((response->status != 403 && !lacks_parent) || attempt == collection_attempts)
      return std::unexpected(refusal("make", request.url, *response));
    if (lacks_parent && parent_end > root) {
      const auto made = make_collection(folder.substr(0, parent_end), root);
      if (!made) return made;
    }
    if (attempt > 1) std::this_thread::sleep_for(collection_pause * attempt);
  }
}

bool DavClient::is_empty_folder(std::string_view path) {
  const auto response =
      send({.method = "PROPFIND", .url = url(path) + '/', .headers = {{"Depth", "1"}}});
  constexpr int multi_status = 207;
  if (!response || response->status != multi_status) return false;  // also: it has too many
  // The folder is one of them: "</D:href>", with any prefix.
  std::size_t members = 0;
  for (std::size_t at = 0; (at = response->body.find("href>", at)) != std::string::npos; ++at) {
    const std::size_t open = response->body.rfind('<', at);
    if (open != std::string::npos && response->body.substr(open, 2) == "</") ++members;
  }
  return members == 1;
}

Result<void> DavClient::put(std::string_view path, const ObjectBody& body,
                            const std::string& etag) {
  Request request{.method = "PUT",
                  .url = url(path),
                  .headers = {{"Content-Type", std::string(object_kind(path).type)}},
                  .body = &body};
  if (etag.starts_with('"')) request.headers.emplace("If-Match", etag);
  const auto response = send(request);
  if (!response) return std::unexpected(response.error());
  if (is_done(*response)) return {};
  Error error = refusal("write", request.url, *response);
  if (response->status == 412 && !etag.empty()) error.kind = ErrorKind::conflict;
  return std::unexpected(std::move(error));
}

Result<bool> DavClient::move(std::string_view from, std::string_view to, bool overwrite) {
  const auto response =
      send({.method = "MOVE",
            .url = url(from),
            .headers = {{"Destination", url(to)}, {"Overwrite", overwrite ? "T" : "F"}}});
  if (!response) return std::unexpected(response.error());
  if (is_done(*response)) return true;
  if (response->status == 404) return false;
  Error error = refusal("move", url(to), *response);
  if (response->status == 412 && !overwrite) error.kind = ErrorKind::conflict;
  return std::unexpected(std::move(error));
}

Result<void> DavClient::remove(std::string_view path) {
  const auto response = send({.method = "DELETE", .url = url(path)});
  if (!response) return std::unexpected(response.error());
  if (is_done(*response) || response->status == 404) return {};
  return std::unexpected(refusal("remove", url(path), *response));
}

Result<std::optional<std::string>> DavClient::lock(std::string_view path, unsigned seconds) {
  const ObjectBody body = text_body(std::string(lock_request));
  const auto response = send({.method = "LOCK",
                              .url = url(path),
                              .headers = {{"Content-Type", "application/xml; charset=utf-8"},
                                          {"Depth", "0"},
                                          {"Timeout", fmt::format("Second-{}", seconds)}},
                              .body = &body});
  if (!response) return std::unexpected(response.error());
  if (response->status == 423) return std::nullopt;
  Error error = refusal("lock", url(path), *response);
  if (response->status == 405 || response->status == 501) error.kind = ErrorKind::unsupported;
  if (!is_done(*response)) return std::unexpected(std::move(error));
  std::string token = token_in(*response);
  if (!token.empty()) return token;
  return fail(ErrorKind::io, redact_url(url(path)) + ": the server gives no token for a lock",
              "check the address: is it a folder of a WebDAV server?");
}

Result<bool> DavClient::keep_lock(std::string_view path, const std::string& token,
                                  unsigned seconds) {
  const auto response = send({.method = "LOCK",
                              .url = url(path),
                              .headers = {{"If", fmt::format("(<{}>)", token)},
                                          {"Timeout", fmt::format("Second-{}", seconds)}}});
  if (!response) return std::unexpected(response.error());
  return is_done(*response);
}

void DavClient::unlock(std::string_view path, const std::string& token) {
  (void)send({.method = "UNLOCK",
              .url = url(path),
              .headers = {{"Lock-Token", fmt::format("<{}>", token)}}});
}

}  // namespace axle::index
