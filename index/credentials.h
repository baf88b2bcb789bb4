#pragma once
// User names and passwords, by server and path. They live in the transport alone: links, pages and
// messages never carry them.

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

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
  /// Keeps what `url` carries, for its server.
  void remember(std::string_view url);
  /// What `url` itself carries; else what is known for the longest folder above it on the same
  /// server; else what is known for the server.
  [[nodiscard]] Credential find(std::string_view url) const;

 private:
  struct Known {
    std::string origin;
    std::string folder;
    Credential credential;
  };
  mutable std::mutex mutex_;
  std::vector<Known> known_;
};

}  // namespace axle::index
