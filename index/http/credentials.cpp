#include "index/http/credentials.h"

#include <algorithm>
#include <utility>

#include "foundation/text/ascii.h"
#include "index/http/url.h"

namespace axle::index {
namespace {

std::string folder_of(std::string_view url) {
  std::string folder(split_url(url).path);
  if (!folder.ends_with('/')) folder += '/';
  return folder;
}

/// The path of `url` is in `folder`, or is the folder itself.
bool lies_in(std::string_view url, std::string_view folder) {
  const std::string_view path = split_url(url).path;
  return path.starts_with(folder) || path == folder.substr(0, folder.size() - 1);
}

}  // namespace

Credential url_credential(std::string_view url) {
  const std::string_view info = split_authority(split_url(url).authority).user_info;
  const std::size_t colon = info.find(':');
  Credential credential{percent_decode(info.substr(0, colon)), {}};
  if (colon != std::string_view::npos) credential.password = percent_decode(info.substr(colon + 1));
  return credential;
}

std::string with_credential(std::string_view url, std::string_view from) {
  const std::string_view info = split_authority(split_url(from).authority).user_info;
  std::string result = without_credentials(url);
  const std::size_t slashes = result.find("//");
  if (!info.empty() && slashes != std::string::npos) {
    result.insert(slashes + 2, std::string(info) + '@');
  }
  return result;
}

void CredentialStore::remember(std::string_view url) {
  Known known{url_origin(url), folder_of(url), url_credential(url)};
  if (known.origin.empty() || known.credential.empty()) return;
  const std::lock_guard lock(mutex_);
  known_.push_back(std::move(known));
}

std::optional<CredentialStore::Known> CredentialStore::known_for(std::string_view url) const {
  const std::string origin = url_origin(url);
  const std::lock_guard lock(mutex_);
  const Known* best = nullptr;
  bool best_is_above = false;
  for (const Known& known : known_) {
    if (known.origin != origin) continue;
    const bool above = lies_in(url, known.folder);
    const bool better = best == nullptr || (above && !best_is_above) ||
                        (above && known.folder.size() >= best->folder.size());
    if (!better) continue;
    best = &known;
    best_is_above = above;
  }
  return best == nullptr ? std::nullopt : std::optional(*best);
}

void CredentialStore::complete_from_netrc(std::string_view url, Credential& credential) const {
  const std::string host = text::ascii_lower(split_authority(split_url(url).authority).host);
  const NetrcEntry* best = nullptr;
  for (const NetrcEntry& entry : netrc_) {
    const bool own = text::ascii_lower(entry.machine) == host;
    if (!own && !entry.machine.empty()) continue;
    if (!credential.user.empty() && entry.login != credential.user) continue;
    if (own || best == nullptr || best->machine.empty()) best = &entry;
  }
  if (best != nullptr) credential = {best->login, best->password};
}

Credential CredentialStore::find(std::string_view url) const {
  if (policy(url) == Authenticate::never) return {};
  Credential credential = url_credential(url);
  if (!credential.password.empty()) return credential;
  if (const auto known = known_for(url)) {
    if (credential.user.empty() || credential.user == known->credential.user)
      credential = known->credential;
  }
  if (credential.password.empty()) complete_from_netrc(url, credential);
  return credential;
}

Authenticate CredentialStore::policy(std::string_view url) const {
  const std::string origin = url_origin(url);
  const IndexLogin* best = nullptr;
  for (const IndexLogin& login : logins_) {
    if (url_origin(login.url) != origin || !lies_in(url, folder_of(login.url))) continue;
    if (best == nullptr || login.url.size() > best->url.size()) best = &login;
  }
  return best == nullptr ? Authenticate::when_known : best->authenticate;
}

Result<std::optional<Credential>> CredentialStore::ask_keyring(std::string_view url) {
  if (!keyring_ || policy(url) == Authenticate::never) return std::nullopt;
  const std::string user = find(url).user;
  if (user.empty()) return std::nullopt;
  const auto known = known_for(url);
  const std::string origin = url_origin(url);
  const Authority authority = split_authority(split_url(url).authority);
  const std::string scheme = text::ascii_lower(split_url(url).scheme);
  const std::string host = std::string(authority.host) +
                           (authority.port.empty() ? "" : ":" + std::string(authority.port));
  const std::string server = scheme + "://" + host;
  std::string place = server;
  if (known && known->credential.user == user) {
    place += known->folder.substr(0, known->folder.size() - 1);
  }
  const std::lock_guard lock(keyring_mutex_);
  const auto [answer, is_new] = answers_.try_emplace(user + "@" + place);
  if (!is_new) return answer->second;
  // uv passes the index as written, pip with a slash; then both try the server's name.
  for (const std::string& service : {place, place + '/', host, server}) {
    auto password = keyring_(service, user);
    if (!password) return std::unexpected(std::move(password).error());
    if (!*password) continue;
    answer->second = Credential{user, std::move(**password)};
    break;
  }
  if (answer->second) {
    const std::lock_guard known_lock(mutex_);
    for (Known& one : known_) {
      if (one.origin == origin && one.credential.user == user && one.credential.password.empty())
        one.credential = *answer->second;
    }
    if (!known) known_.push_back({origin, "/", *answer->second});
  }
  return answer->second;
}

}  // namespace axle::index
