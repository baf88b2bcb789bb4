#include "index/credentials.h"

#include <utility>

#include "index/transport.h"
#include "index/url.h"

namespace axle::index {

Credential url_credential(std::string_view url) {
  const std::string_view info = split_authority(split_url(url).authority).user_info;
  const std::size_t colon = info.find(':');
  Credential credential{percent_decode(info.substr(0, colon)), {}};
  if (colon != std::string_view::npos) credential.password = percent_decode(info.substr(colon + 1));
  return credential;
}

std::string with_credential(std::string_view url, std::string_view from) {
  const std::string_view info = split_authority(split_url(from).authority).user_info;
  std::string result = redact_url(url);
  const std::size_t slashes = result.find("//");
  if (!info.empty() && slashes != std::string::npos) {
    result.insert(slashes + 2, std::string(info) + '@');
  }
  return result;
}

void CredentialStore::remember(std::string_view url) {
  Known known{url_origin(url), std::string(split_url(url).path), url_credential(url)};
  if (known.origin.empty() || known.credential.empty()) return;
  if (!known.folder.ends_with('/')) known.folder += '/';
  const std::lock_guard lock(mutex_);
  known_.push_back(std::move(known));
}

Credential CredentialStore::find(std::string_view url) const {
  if (Credential own = url_credential(url); !own.empty()) return own;
  const std::string origin = url_origin(url);
  const std::string_view path = split_url(url).path;
  const std::lock_guard lock(mutex_);
  const Known* best = nullptr;
  bool best_is_above = false;
  for (const Known& known : known_) {
    if (known.origin != origin) continue;
    const bool above = path.starts_with(known.folder);
    const bool better = best == nullptr || (above && !best_is_above) ||
                        (above && known.folder.size() >= best->folder.size());
    if (!better) continue;
    best = &known;
    best_is_above = above;
  }
  return best == nullptr ? Credential{} : best->credential;
}

}  // namespace axle::index
