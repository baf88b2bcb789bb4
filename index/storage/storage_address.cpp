#include "index/storage/storage_address.h"

#include <algorithm>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "index/http/redaction.h"
#include "index/http/url.h"

namespace axle::index {
namespace {

constexpr std::string_view scheme = "s3://";
constexpr const char* form = "name it as s3://BUCKET or s3://BUCKET/PREFIX";

bool is_bucket_name(std::string_view name) {
  return !name.empty() && name.size() <= 255 && text::is_ascii_alnum(name.front()) &&
         std::ranges::all_of(name, [](char c) {
           return text::is_ascii_alnum(c) || c == '.' || c == '-' || c == '_';
         });
}

/// What libcurl or a server would take for another key is none.
bool is_plain_segment(std::string_view segment) {
  return !segment.empty() && segment != "." && segment != ".." &&
         std::ranges::none_of(
             segment, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; });
}

}  // namespace

std::string StorageAddress::text() const {
  const std::string whole = fmt::format("{}{}/{}", scheme, bucket, prefix);
  return whole.substr(0, whole.size() - 1);
}

bool is_storage_address(std::string_view text) {
  return text::ascii_lower(text.substr(0, scheme.size())) == scheme;
}

bool is_stored_elsewhere(std::string_view text) {
  return is_storage_address(text) || is_http_url(text);
}

Result<StorageAddress> parse_storage_address(std::string_view text) {
  std::string_view rest = text.substr(std::min(scheme.size(), text.size()));
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  StorageAddress address;
  address.bucket = rest.substr(0, slash);
  if (address.bucket.find_first_of("@:") != std::string::npos) {
    return fail(ErrorKind::malformed, "the address of the storage has a login or a port",
                "keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or ~/.aws/credentials, "
                "the server from AWS_ENDPOINT_URL_S3; " +
                    std::string(form));
  }
  if (!is_bucket_name(address.bucket))
    return fail(ErrorKind::malformed, fmt::format("{} names no bucket", redact_url(text)), form);
  rest.remove_prefix(std::min(slash + 1, rest.size()));
  while (rest.ends_with('/')) rest.remove_suffix(1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const std::string_view segment = rest.substr(0, end);
    if (!is_plain_segment(segment)) {
      return fail(ErrorKind::malformed,
                  fmt::format("the prefix in {} has an empty, \".\" or \"..\" part, or control "
                              "characters",
                              redact_url(text)),
                  form);
    }
    address.prefix.append(segment).append("/");
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return address;
}

Result<void> check_endpoint(const std::string& endpoint,
                            const std::vector<std::string>& trusted_hosts) {
  if (endpoint.empty()) return {};
  const UrlParts parts = split_url(endpoint);
  const Authority authority = split_authority(parts.authority);
  const bool plain = parts.has_query || parts.has_fragment || !authority.user_info.empty() ||
                     parts.authority.find('@') != std::string_view::npos;
  if (!is_http_url(endpoint) || authority.host.empty() || plain) {
    return fail(ErrorKind::malformed,
                fmt::format("{} is no endpoint of a storage", redact_url(endpoint)),
                "AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL or endpoint_url is a URL as "
                "https://storage.example:9000, without a login");
  }
  if (may_get_login(endpoint, trusted_hosts)) return {};
  return fail(
      ErrorKind::unsupported,
      fmt::format("{} is not encrypted: whoever is on the way could read and replace what "
                  "is sent",
                  redact_url(endpoint)),
      fmt::format("use https, or trust the network to it: --trusted-host {}", authority.host));
}

std::string bucket_url(const StorageAccess& access) {
  const std::string& bucket = access.address.bucket;
  if (!access.endpoint.empty()) {
    // As libcurl names the server in "Host", which is signed: without the port that it is anyway.
    const UrlParts parts = split_url(access.endpoint);
    const std::string scheme_name = text::ascii_lower(parts.scheme);
    std::string server = text::ascii_lower(parts.authority);
    const std::string_view usual = scheme_name == "https" ? ":443" : ":80";
    if (server.ends_with(usual)) server.resize(server.size() - usual.size());
    std::string_view path = parts.path;
    while (path.ends_with('/')) path.remove_suffix(1);
    return fmt::format("{}://{}{}/{}", scheme_name, server, path, bucket);
  }
  const std::string_view domain =
      access.region.starts_with("cn-") ? "amazonaws.com.cn" : "amazonaws.com";
  const std::string host = fmt::format("s3.{}.{}", access.region, domain);
  const bool fits = bucket.size() <= 63 && std::ranges::all_of(bucket, [](char c) {
                      return (c >= 'a' && c <= 'z') || text::is_ascii_digit(c) || c == '-';
                    });
  return fits ? fmt::format("https://{}.{}", bucket, host)
              : fmt::format("https://{}/{}", host, bucket);
}

}  // namespace axle::index
