#include "index/pages/page_request.h"

#include <utility>

#include <fmt/format.h>

#include "index/http/http_rules.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "index/pages/page.h"
#include "wheel/attestation/provenance.h"

namespace axle::index {
namespace {

constexpr const char* accepted_pages =
    "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, "
    "text/html;q=0.1";

const char* hint_of(int status) {
  if (status == 401) {
    return "set the user name and password in the index URL, in UV_INDEX_<NAME>_USERNAME and "
           "_PASSWORD or in a netrc file, or use a keyring with --keyring-provider subprocess";
  }
  if (status == 403) return "the server rejects this user or address; check the credentials";
  if (status == 407)
    return "the proxy requires a user name and password; add them to the proxy URL";
  if (status == 406 || status == 300) return "the server offers no page in JSON or HTML";
  if (status == 404 || status == 410) return "check the URL";
  if (is_transient_status(status)) return "the server has a problem or is busy; try again later";
  return "check the index URL: it usually ends in /simple";
}

HttpRequest page_at(const std::string& url) {
  HttpRequest request;
  request.url = url;
  request.accept = accepted_pages;
  request.max_bytes = max_page_bytes;
  return request;
}

}  // namespace

std::string provenance_place(const std::string& provenance, const std::string& url) {
  if (!provenance.empty()) return provenance;
  return is_file_url(url) ? url + ".provenance" : std::string();
}

HttpRequest provenance_request(const std::string& place) {
  HttpRequest request;
  request.url = place;
  request.accept = "application/vnd.pypi.integrity.v1+json, application/json;q=0.9";
  request.max_bytes = wheel::max_provenance_bytes;
  return request;
}

Error status_error(const std::string& url, int status) {
  const bool absent = status == 404 || status == 410;
  return {absent ? ErrorKind::not_found : ErrorKind::io,
          fmt::format("{} returned HTTP status {}", redact_url(url), status), hint_of(status)};
}

Result<std::optional<HttpResponse>> request_page(const std::string& url, Transport& transport,
                                                 const std::set<int>& absent_codes,
                                                 const HasForm& has_form) {
  Result<HttpResponse> response = transport.fetch_or_form(page_at(url), has_form);
  if (!response) return std::unexpected(std::move(response.error()));
  if (response->status == 404 || absent_codes.contains(response->status)) return std::nullopt;
  if (response->status != 200) return std::unexpected(status_error(url, response->status));
  return std::move(*response);
}

bool prefetch_page(const std::string& url, Transport& transport, const HasForm& has_form,
                   Preparation prepare) {
  if (has_form) return transport.prefetch_or_form(page_at(url), has_form, std::move(prepare));
  transport.prefetch(page_at(url), std::move(prepare));
  return false;
}

}  // namespace axle::index
