#include "session/upload/upload_access.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "foundation/text/quote.h"
#include "index/http/credentials.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "session/index_access.h"
#include "session/variables.h"

namespace axle::session {

namespace {

constexpr const char* token_user = "__token__";

std::string first_variable(std::string_view one, std::string_view other) {
  std::string value = variable(one);
  return value.empty() ? variable(other) : value;
}

Outcome<std::string> find_address(const Arguments& arguments) {
  std::string url = arguments.value(Opt::repository_url);
  if (url.empty()) url = first_variable("UV_PUBLISH_URL", "TWINE_REPOSITORY_URL");
  if (url.empty()) {
    return misused("nothing says where the index takes uploads",
                   "name it with --repository-url, UV_PUBLISH_URL or TWINE_REPOSITORY_URL");
  }
  const index::UrlParts parts = index::split_url(url);
  if (!index::is_http_url(url) || parts.authority.empty() || parts.has_fragment) {
    const bool address = url.find("://") != std::string::npos;
    return misused(
        fmt::format("{} is not an address that takes uploads", text::quote(index::redact_url(url))),
        address
            ? "write it as https://HOST/PATH"
            : "write it as https://HOST/PATH; `variant index add WHEELS --out FOLDER` publishes "
              "in a folder");
  }
  return url;
}

/// What variables and the command line say.
index::Credential stated_login(const Arguments& arguments) {
  if (const std::string token = variable("UV_PUBLISH_TOKEN"); !token.empty())
    return {token_user, token};
  index::Credential login;
  login.user = arguments.value(Opt::username);
  if (login.user.empty()) login.user = first_variable("UV_PUBLISH_USERNAME", "TWINE_USERNAME");
  login.password = first_variable("UV_PUBLISH_PASSWORD", "TWINE_PASSWORD");
  if (login.user.empty() && !login.password.empty()) login.user = token_user;
  return login;
}

Outcome<index::Credential> find_login(const std::string& url, const Arguments& arguments,
                                      index::TransportOptions& options) {
  index::Credential login = index::url_credential(url);
  const index::Credential stated = stated_login(arguments);
  if (login.user.empty()) login.user = stated.user;
  if (login.password.empty() && (login.user == stated.user || stated.user == token_user))
    login.password = stated.password;
  if (!login.password.empty()) return login;
  const std::string_view host = index::split_authority(index::split_url(url).authority).host;
  for (const index::NetrcEntry& entry : options.netrc) {
    const bool matches = (entry.machine == host || entry.machine.empty()) &&
                         (login.user.empty() || login.user == entry.login);
    if (matches) return index::Credential{entry.login, entry.password};
  }
  if (options.keyring == nullptr || login.user.empty()) return login;
  const auto kept = options.keyring(index::without_credentials(url), login.user);
  if (!kept) return failed(kept.error());
  if (*kept) login.password = **kept;
  return login;
}

}  // namespace

Outcome<UploadAccess> open_upload(const Session& session, const Settings& settings) {
  const auto url = find_address(session.arguments());
  if (!url) return std::unexpected(url.error());
  auto options = transport_options(settings);
  if (!options) return std::unexpected(std::move(options.error()));
  auto login = find_login(*url, session.arguments(), *options);
  if (!login) return std::unexpected(std::move(login.error()));
  if (!login->empty() && !index::may_get_login(*url, settings.trusted_hosts)) {
    return failed({ErrorKind::unsupported,
                   fmt::format("{} is not encrypted: everybody on the way could read the login",
                               index::redact_url(*url)),
                   "use https, or name the host with --trusted-host"});
  }
  // One that is not encrypted goes to this machine itself, or where the user says.
  if (!login->empty() && !index::is_trusted_host(*url, settings.trusted_hosts))
    options->http_proxy.clear();
  UploadAccess access;
  access.target = {index::without_credentials(*url), std::move(login->user),
                   std::move(login->password), session.arguments().has(Opt::skip_existing)};
  // An upload is not repeated by itself: one whose answer was lost may have been taken.
  options->retries = 0;
  options->netrc.clear();
  options->logins.clear();
  options->keyring = nullptr;
  access.transport = index::make_transport(std::move(*options));
  return access;
}

}  // namespace axle::session
