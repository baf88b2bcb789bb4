#pragma once
// URLs according to RFC 3986, as far as an index needs them.

#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::index {

/// The five components (RFC 3986, appendix B). Views into the text that was split.
struct UrlParts {
  std::string_view scheme;
  std::string_view authority;
  std::string_view path;
  std::string_view query;
  std::string_view fragment;
  bool has_authority = false;
  bool has_query = false;
  bool has_fragment = false;
};

[[nodiscard]] UrlParts split_url(std::string_view url);

/// The parts of the authority; `port` empty if there is none, `user_info` still percent-encoded.
struct Authority {
  std::string_view user_info;
  std::string_view host;
  std::string_view port;
};
[[nodiscard]] Authority split_authority(std::string_view authority);

/// "https://host:443" in lower case with the default port filled in: what "same server" compares.
/// Empty if `url` is not http or https.
[[nodiscard]] std::string url_origin(std::string_view url);

/// Whether the user trusts the server of `url` without a valid certificate: "host" or "host:port"
/// of pip's --trusted-host.
[[nodiscard]] bool is_trusted_host(std::string_view url, const std::vector<std::string>& trusted);

/// Whether the host of an authority is this machine: "localhost", or an address of it in digits
/// (127.0.0.0/8, "[::1]"). "127.example" is a name like any other.
[[nodiscard]] bool is_loopback_host(std::string_view host);
/// Whether a login may be sent there: over https, to this machine, or to a trusted host.
[[nodiscard]] bool may_get_login(std::string_view url, const std::vector<std::string>& trusted);

[[nodiscard]] bool is_http_url(std::string_view url);
[[nodiscard]] bool is_file_url(std::string_view url);
/// Of a file in a bundle that was opened (index/bundle/bundle.h).
[[nodiscard]] bool is_bundle_url(std::string_view url);

[[nodiscard]] std::string_view without_fragment(std::string_view url);
/// The last path component, percent-decoded once: the file name of a link.
[[nodiscard]] std::string url_file_name(std::string_view url);
/// `url` without user name and password: the form that may be sent to a server and stored.
[[nodiscard]] std::string without_credentials(std::string_view url);
/// RFC 3986 reference resolution; `base` absolute.
[[nodiscard]] std::string resolve_url(std::string_view base, std::string_view reference);
/// Absolute path -> file URL, percent-encoded, and back. Error: malformed (a host other than
/// localhost).
[[nodiscard]] std::string file_url(std::string_view absolute_path);
[[nodiscard]] Result<std::string> file_path(std::string_view url);
/// Absolute path of a bundle -> what the URLs of its files begin with, before a "/".
[[nodiscard]] std::string bundle_url(std::string_view absolute_path);

/// Decodes %XX.
[[nodiscard]] std::string percent_decode(std::string_view text);
/// Encodes everything but unreserved characters, and "/" when `keep_slash`.
[[nodiscard]] std::string percent_encode(std::string_view text, bool keep_slash);
/// `url` with `suffix` after its path, before query and fragment.
[[nodiscard]] std::string append_to_path(std::string_view url, std::string_view suffix);

/// Resolves many references against one base, fast enough for a page with thousands of links.
class UrlResolver {
 public:
  explicit UrlResolver(std::string base);
  /// RFC 3986 §5.2 (strict).
  [[nodiscard]] std::string resolve(std::string_view reference) const;
  [[nodiscard]] const std::string& base() const { return base_; }

 private:
  [[nodiscard]] std::string resolve_generally(std::string_view reference) const;

  std::string base_;
  std::string folder_;          ///< base up to and including the last "/" of its path
  std::size_t path_begin_ = 0;  ///< where the path begins in `folder_`
  bool plain_folder_ = false;   ///< `folder_` has a path without "." and ".." segments
};

}  // namespace axle::index
