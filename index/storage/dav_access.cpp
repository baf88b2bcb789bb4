#include "index/storage/dav_access.h"

#include <algorithm>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "index/http/redaction.h"
#include "index/http/url.h"

namespace axle::index {
namespace {

constexpr const char* address_form = "name a folder of a WebDAV server as https://HOST/FOLDER";

std::unexpected<Error> no_folder(std::string_view text, std::string_view why) {
  return fail(ErrorKind::malformed, fmt::format("{} {}", redact_url(text), why), address_form);
}

bool is_folder_name(std::string_view name) {
  return !name.empty() && name != "." && name != ".." && std::ranges::none_of(name, [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == '\x7f' || c == '/' || c == '\\';
  });
}

bool is_port(std::string_view port) {
  return port.size() <= 5 && std::ranges::all_of(port, text::is_ascii_digit);
}

bool is_host(std::string_view host) {
  const bool is_address = host.starts_with('[') && host.ends_with(']');
  if (is_address) host = host.substr(1, host.size() - 2);
  return !host.empty() && std::ranges::all_of(host, [&](char c) {
    return text::is_ascii_alnum(c) || c == '.' || (is_address ? c == ':' : c == '-' || c == '_');
  });
}

}  // namespace

Result<std::string> parse_dav_address(std::string_view text,
                                      const std::vector<std::string>& trusted_hosts) {
  const UrlParts parts = split_url(text);
  if (parts.has_query || parts.has_fragment)
    return no_folder(text, "has a query or a fragment, which no folder has");
  const Authority authority = split_authority(parts.authority);
  if (!is_http_url(text) || !is_host(authority.host) || !is_port(authority.port))
    return no_folder(text, "names no server");
  const std::string scheme = text::ascii_lower(parts.scheme);
  std::string url = fmt::format("{}://{}", scheme, text::ascii_lower(authority.host));
  const bool usual = authority.port.empty() || authority.port == (scheme == "https" ? "443" : "80");
  if (!usual) url += fmt::format(":{}", authority.port);
  std::string_view path = parts.path;
  while (path.ends_with('/')) path.remove_suffix(1);
  while (!path.empty()) {
    path.remove_prefix(1);  // its slash
    const std::size_t end = std::min(path.find('/'), path.size());
    const std::string name = percent_decode(path.substr(0, end));
    if (!is_folder_name(name)) return no_folder(text, "has a part that is no name of a folder");
    url += '/' + percent_encode(name, false);
    path.remove_prefix(end);
  }
  if (may_get_login(url, trusted_hosts)) return url;
  return fail(
      ErrorKind::unsupported,
      fmt::format("{} is not encrypted: whoever is on the way could read the login, and replace "
                  "what is sent",
                  redact_url(url)),
      fmt::format("use https, or trust the network to it: --trusted-host {}", authority.host));
}

}  // namespace axle::index
