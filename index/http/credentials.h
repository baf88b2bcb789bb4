#pragma once
// User names and passwords, by server and path. They live in the transport alone: links, pages and
// messages never carry them.

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/http/transport.h"

namespace axle::index {

struct Credential {
  std::string user;  ///< decoded
  std::string password;
  [[nodiscard]] bool empty() const { return user.empty() && password.empty(); }
};

/// Those written in `url` itself.
[[nodiscard]] Credential url_credential(std::string_view url);
/// `url` with the user name and password that stand in `from`.
[[nodiscard]] std::string with_credential(std::string_view url, std::string_view from);

class CredentialStore {
 public:
  CredentialStore(std::vector<NetrcEntry> netrc, std::vector<IndexLogin> logins,
                  PasswordSource keyring)
      : netrc_(std::move(netrc)), logins_(std::move(logins)), keyring_(std::move(keyring)) {}

  /// Keeps what `url` carries, for its server.
  void remember(std::string_view url);
  /// What `url` itself carries; else what is known for the longest folder above it on the same
  /// server; else what is known for the server; else the netrc file's entry for the host. A user
  /// name alone is completed by the latter.
  [[nodiscard]] Credential find(std::string_view url) const;
  /// What the keyring has for the user of `url`, which answered 401; each is asked once.
  [[nodiscard]] Result<std::optional<Credential>> ask_keyring(std::string_view url);
  /// Whether requests below an index want a login, or none.
  [[nodiscard]] Authenticate policy(std::string_view url) const;

 private:
  struct Known {
    std::string origin;
    std::string folder;
    Credential credential;
  };
  [[nodiscard]] std::optional<Known> known_for(std::string_view url) const;
  void complete_from_netrc(std::string_view url, Credential& credential) const;

  std::vector<NetrcEntry> netrc_;
  std::vector<IndexLogin> logins_;
  PasswordSource keyring_;
  std::mutex keyring_mutex_;  ///< one question at a time: it may unlock something
  std::map<std::string, std::optional<Credential>> answers_;  ///< of the keyring
  mutable std::mutex mutex_;
  std::vector<Known> known_;
};

}  // namespace axle::index
