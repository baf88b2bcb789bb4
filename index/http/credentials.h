#pragma once
// User names and passwords, by server and path. They are only stored in the transport: links, pages
// and messages never contain them.

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

/// The credentials in `url` itself.
[[nodiscard]] Credential url_credential(std::string_view url);
/// `url` with the user name and password of `from`.
[[nodiscard]] std::string with_credential(std::string_view url, std::string_view from);

class CredentialStore {
 public:
  CredentialStore(std::vector<NetrcEntry> netrc, std::vector<IndexLogin> logins,
                  PasswordSource keyring)
      : netrc_(std::move(netrc)), logins_(std::move(logins)), keyring_(std::move(keyring)) {}

  /// Stores the credentials in `url` for its server.
  void remember(std::string_view url);
  /// The credentials in `url` itself; else those of the longest parent folder on the same server;
  /// else those of the server; else the netrc file's entry for the host. If only a user name is
  /// known, the latter adds the password.
  [[nodiscard]] Credential find(std::string_view url) const;
  /// The keyring's entry for the user of `url`, which answered 401; each is queried once.
  [[nodiscard]] Result<std::optional<Credential>> ask_keyring(std::string_view url);
  /// Whether requests below an index require a login, or must not use one.
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
  std::mutex keyring_mutex_;  ///< one query at a time: it may prompt for a password
  std::map<std::string, std::optional<Credential>> answers_;  ///< of the keyring
  mutable std::mutex mutex_;
  std::vector<Known> known_;
};

}  // namespace axle::index
