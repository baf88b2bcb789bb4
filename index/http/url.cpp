#include "index/http/url.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>

#include "foundation/text/ascii.h"
#include "index/http/redaction.h"

namespace axle::index {
namespace {

constexpr std::string_view bundle_scheme = "bundle://";

int hex_value(char c) {
  if (text::is_ascii_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool is_unreserved(char c) {
  return text::is_ascii_letter(c) || text::is_ascii_digit(c) || c == '-' || c == '.' || c == '_' ||
         c == '~';
}

std::size_t scheme_length(std::string_view url) {
  if (url.empty() || !text::is_ascii_letter(url[0])) return std::string_view::npos;
  for (std::size_t i = 1; i < url.size(); ++i) {
    const char c = url[i];
    if (c == ':') return i;
    if (!text::is_ascii_letter(c) && !text::is_ascii_digit(c) && c != '+' && c != '-' && c != '.')
      break;
  }
  return std::string_view::npos;
}

/// RFC 3986 §5.2.4.
std::string remove_dot_segments(std::string_view input) {
  std::string output;
  output.reserve(input.size());
  const auto drop_last = [&output] {
    const std::size_t slash = output.rfind('/');
    output.resize(slash == std::string::npos ? 0 : slash);
  };
  while (!input.empty()) {
    if (input.starts_with("../")) {
      input.remove_prefix(3);
    } else if (input.starts_with("./")) {
      input.remove_prefix(2);
    } else if (input.starts_with("/./")) {
      input.remove_prefix(2);
    } else if (input == "/.") {
      input = "/";
    } else if (input.starts_with("/../")) {
      input.remove_prefix(3);
      drop_last();
    } else if (input == "/..") {
      input = "/";
      drop_last();
    } else if (input == "." || input == "..") {
      break;
    } else {
      const std::size_t end = std::min(input.find('/', 1), input.size());
      output += input.substr(0, end);
      input.remove_prefix(end);
    }
  }
  return output;
}

std::string recompose(const UrlParts& parts, std::string_view path) {
  std::string url;
  url.reserve(parts.scheme.size() + parts.authority.size() + path.size() + parts.query.size() +
              parts.fragment.size() + 6);
  if (!parts.scheme.empty()) url.append(parts.scheme) += ':';
  if (parts.has_authority) url.append("//") += parts.authority;
  // Without an authority a path must not look like one (RFC 3986 §3.3).
  if (!parts.has_authority && path.starts_with("//")) url += "/.";
  url += path;
  if (parts.has_query) url.append("?") += parts.query;
  if (parts.has_fragment) url.append("#") += parts.fragment;
  return url;
}

bool has_dot_segment(std::string_view path) {
  return path.starts_with('.') || path.find("/.") != std::string_view::npos;
}

}  // namespace

UrlParts split_url(std::string_view url) {
  UrlParts parts;
  if (const std::size_t colon = scheme_length(url); colon != std::string_view::npos) {
    parts.scheme = url.substr(0, colon);
    url.remove_prefix(colon + 1);
  }
  if (const std::size_t hash = url.find('#'); hash != std::string_view::npos) {
    parts.has_fragment = true;
    parts.fragment = url.substr(hash + 1);
    url = url.substr(0, hash);
  }
  if (const std::size_t mark = url.find('?'); mark != std::string_view::npos) {
    parts.has_query = true;
    parts.query = url.substr(mark + 1);
    url = url.substr(0, mark);
  }
  if (url.starts_with("//")) {
    parts.has_authority = true;
    const std::size_t end = std::min(url.find('/', 2), url.size());
    parts.authority = url.substr(2, end - 2);
    url.remove_prefix(end);
  }
  parts.path = url;
  return parts;
}

Authority split_authority(std::string_view authority) {
  Authority result;
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    result.user_info = authority.substr(0, at);
    authority.remove_prefix(at + 1);
  }
  const std::size_t colon = authority.rfind(':');
  const std::size_t bracket = authority.rfind(']');
  if (colon != std::string_view::npos && (bracket == std::string_view::npos || colon > bracket)) {
    result.port = authority.substr(colon + 1);
    authority = authority.substr(0, colon);
  }
  result.host = authority;
  return result;
}

bool is_http_url(std::string_view url) {
  const std::string scheme = text::ascii_lower(split_url(url).scheme);
  return scheme == "http" || scheme == "https";
}

bool is_file_url(std::string_view url) {
  return text::ascii_lower(split_url(url).scheme) == "file";
}

bool is_bundle_url(std::string_view url) { return url.starts_with(bundle_scheme); }

std::string url_origin(std::string_view url) {
  const UrlParts parts = split_url(url);
  const std::string scheme = text::ascii_lower(parts.scheme);
  if (scheme != "http" && scheme != "https") return {};
  const Authority authority = split_authority(parts.authority);
  std::string origin = scheme + "://" + text::ascii_lower(authority.host) + ':';
  if (authority.port.empty()) {
    origin += scheme == "https" ? "443" : "80";
  } else {
    origin += authority.port;
  }
  return origin;
}

bool is_trusted_host(std::string_view url, const std::vector<std::string>& trusted) {
  const Authority authority = split_authority(split_url(url).authority);
  const std::string host(authority.host);
  const std::string with_port = host + ':' + std::string(authority.port);
  return std::ranges::any_of(
      trusted, [&](const std::string& one) { return one == host || one == with_port; });
}

bool is_loopback_host(std::string_view host) {
  const std::string name = text::ascii_lower(host);
  if (name == "localhost") return true;
  in_addr four = {};
  constexpr std::uint32_t first_octet = 24;
  if (::inet_pton(AF_INET, name.c_str(), &four) == 1)
    return ntohl(four.s_addr) >> first_octet == 127;
  if (!name.starts_with('[') || !name.ends_with(']')) return false;
  in6_addr six = {};
  const std::string digits = name.substr(1, name.size() - 2);
  return ::inet_pton(AF_INET6, digits.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

bool may_get_login(std::string_view url, const std::vector<std::string>& trusted) {
  const UrlParts parts = split_url(url);
  return text::ascii_lower(parts.scheme) == "https" ||
         is_loopback_host(split_authority(parts.authority).host) || is_trusted_host(url, trusted);
}

std::string_view without_fragment(std::string_view url) { return url.substr(0, url.find('#')); }

std::string url_file_name(std::string_view url) {
  const std::string_view path = split_url(url).path;
  const std::size_t slash = path.rfind('/');
  return percent_decode(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string percent_encode(std::string_view text, bool keep_slash) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string result;
  result.reserve(text.size() + 8);
  for (const char c : text) {
    if (is_unreserved(c) || (keep_slash && c == '/')) {
      result += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      result += '%';
      result += digits[byte >> 4];
      result += digits[byte & 15];
    }
  }
  return result;
}

std::string append_to_path(std::string_view url, std::string_view suffix) {
  const std::size_t end = std::min(url.find_first_of("?#"), url.size());
  std::string result(url.substr(0, end));
  result += suffix;
  result += url.substr(end);
  return result;
}

UrlResolver::UrlResolver(std::string base) : base_(std::move(base)) {
  const UrlParts parts = split_url(base_);
  const std::size_t slash = parts.path.rfind('/');
  if (!parts.has_authority || slash == std::string_view::npos) return;
  path_begin_ = static_cast<std::size_t>(parts.path.data() - base_.data());
  folder_ = base_.substr(0, path_begin_ + slash + 1);
  plain_folder_ = !has_dot_segment(parts.path);
}

// Most links of a page are absolute, "/packages/…", "../../packages/…" or plain file names: those
// are joined without splitting them. Everything else takes the general path.
std::string UrlResolver::resolve(std::string_view reference) const {
  if (reference.starts_with("https://") || reference.starts_with("http://")) {
    if (reference.find("/.") == std::string_view::npos) return std::string(reference);
    return resolve_generally(reference);
  }
  const bool from_root = reference.starts_with('/') && !reference.starts_with("//") &&
                         reference.find("/.") == std::string_view::npos &&
                         reference.find('?') == std::string_view::npos;
  if (from_root && !folder_.empty()) {
    std::string url;
    url.reserve(path_begin_ + reference.size());
    return url.append(base_, 0, path_begin_).append(reference), url;
  }
  if (!plain_folder_) return resolve_generally(reference);
  std::size_t folder_end = folder_.size();
  std::string_view rest = reference;
  while (rest.starts_with("../")) {
    rest.remove_prefix(3);
    if (folder_end > path_begin_ + 1) {
      folder_end = folder_.rfind('/', folder_end - 2) + 1;
    }
  }
  const std::size_t special = rest.find_first_of(":/?#");
  const bool plain = !rest.empty() && special != 0 && rest[0] != '.' &&
                     (special == std::string_view::npos || rest[special] == '/') &&
                     rest.find("/.") == std::string_view::npos;
  if (!plain) return resolve_generally(reference);
  std::string url;
  url.reserve(folder_end + rest.size());
  url.append(folder_, 0, folder_end).append(rest);
  return url;
}

std::string UrlResolver::resolve_generally(std::string_view text) const {
  UrlParts target = split_url(text);
  if (!target.scheme.empty()) return recompose(target, remove_dot_segments(target.path));
  const UrlParts from = split_url(base_);
  target.scheme = from.scheme;
  if (target.has_authority) return recompose(target, remove_dot_segments(target.path));
  target.has_authority = from.has_authority;
  target.authority = from.authority;
  if (target.path.empty()) {
    if (!target.has_query) {
      target.has_query = from.has_query;
      target.query = from.query;
    }
    return recompose(target, from.path);
  }
  if (target.path.starts_with('/')) return recompose(target, remove_dot_segments(target.path));
  std::string merged;
  if (from.has_authority && from.path.empty()) {
    merged = "/";
  } else if (const std::size_t slash = from.path.rfind('/'); slash != std::string_view::npos) {
    merged = from.path.substr(0, slash + 1);
  }
  merged += target.path;
  return recompose(target, remove_dot_segments(merged));
}

std::string resolve_url(std::string_view base, std::string_view reference) {
  return UrlResolver(std::string(base)).resolve(reference);
}

std::string without_credentials(std::string_view url) {
  const UrlParts parts = split_url(url);
  const std::size_t at = parts.authority.rfind('@');
  if (at == std::string_view::npos) return std::string(url);
  UrlParts shown = parts;
  shown.authority = parts.authority.substr(at + 1);
  return recompose(shown, parts.path);
}

std::string percent_decode(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_value(text[i + 1]) >= 0 &&
        hex_value(text[i + 2]) >= 0) {
      result += static_cast<char>(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

std::string file_url(std::string_view absolute_path) {
  return "file://" + percent_encode(absolute_path, true);
}

std::string bundle_url(std::string_view absolute_path) {
  return std::string(bundle_scheme) + percent_encode(absolute_path, true);
}

Result<std::string> file_path(std::string_view url) {
  const UrlParts parts = split_url(url);
  if (text::ascii_lower(parts.scheme) != "file") {
    return fail(ErrorKind::malformed, redact_url(url) + " is not a file URL");
  }
  if (!parts.authority.empty() && text::ascii_lower(parts.authority) != "localhost") {
    return fail(
        ErrorKind::malformed,
        "the file URL " + redact_url(url) + " names the host " + std::string(parts.authority),
        "write it with three slashes before the path: file:///path");
  }
  std::string path = percent_decode(parts.path);
  if (!path.starts_with('/') || path.find('\0') != std::string::npos) {
    return fail(ErrorKind::malformed, "the file URL " + redact_url(url) + " has no absolute path",
                "write it as file:///path");
  }
  return path;
}

}  // namespace axle::index
