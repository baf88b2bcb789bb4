#pragma once
// Requests one page over HTTP and checks the answer.

#include <optional>
#include <set>
#include <string>

#include "foundation/report/error.h"
#include "index/http/transport.h"

namespace axle::index {

/// The page, or nothing if the server answers 404 or one of `absent_codes`. Any other status except
/// 200 is an io error that says what it means and what to do. `has_form`: of
/// Transport::fetch_or_form.
[[nodiscard]] Result<std::optional<HttpResponse>> request_page(
    const std::string& url, Transport& transport, const std::set<int>& absent_codes = {},
    const HasForm& has_form = nullptr);
/// A hint: `request_page` will probably be called for `url`. `prepare`: of Transport::prefetch.
/// True: as of Transport::prefetch_or_form.
bool prefetch_page(const std::string& url, Transport& transport, const HasForm& has_form = nullptr,
                   Preparation prepare = nullptr);

/// Where the attestations of a file are (PEP 740): what its page says, else beside it if it is of
/// this machine. Empty: nowhere.
[[nodiscard]] std::string provenance_place(const std::string& provenance, const std::string& url);
/// The request for them.
[[nodiscard]] HttpRequest provenance_request(const std::string& place);

/// The error for an unexpected status; `kind` not_found for 404 and 410.
[[nodiscard]] Error status_error(const std::string& url, int status);
/// The same, and when a busy server wants to be asked again.
[[nodiscard]] Error status_error(const std::string& url, const HttpResponse& response);

}  // namespace axle::index
