#include "index/pages/page_request.h"

#include <cstdint>
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

/// Rounded up, so that nobody comes back too early.
std::string render_pause(std::uint64_t seconds) {
  constexpr std::uint64_t minute = 60;
  constexpr std::uint64_t hour = 60 * minute;
  if (seconds > 2 * hour) return fmt::format("{} hours", seconds / hour + (seconds % hour != 0));
  return fmt::format("{} minutes", seconds / minute + (seconds % minute != 0));
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

Error status_error(const std::string& url, const HttpResponse& response) {
  Error error = status_error(url, response.status);
  if (response.retry_after_seconds) {
    const std::string pause = render_pause(*response.retry_after_seconds);
    error.message += " and wants no request before " + pause + " have passed";
    error.hint = "try again in " + pause + ", or use another index or mirror";
  }
  return error;
}

Result<std::optional<HttpResponse>> request_page(const std::string& url, Transport& transport,
                                                 const std::set<int>& absent_codes,
                                                 const HasForm& has_form) {
  Result<HttpResponse> response = transport.fetch_or_form(page_at(url), has_form);
  if (!response) return std::unexpected(std::move(response.error()));
  if (response->status == 404 || absent_codes.contains(response->status)) return std::nullopt;
  if (response->status != 200) return std::unexpected(status_error(url, *response));
  return std::move(*response);
}

bool prefetch_page(const std::string& url, Transport& transport, const HasForm& has_form,
                   Preparation prepare) {
  if (has_form) return transport.prefetch_or_form(page_at(url), has_form, std::move(prepare));
  transport.prefetch(page_at(url), std::move(prepare));
  return false;
}

}  // namespace axle::index
