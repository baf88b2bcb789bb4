#include "index/storage/storage_refusal.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/printable.h"
#include "index/http/redaction.h"
#include "index/http/url.h"

namespace axle::index {
namespace {

constexpr std::size_t longest_code = 64;
constexpr std::size_t longest_message = 200;

constexpr std::string_view rights =
    "the keys need s3:ListBucket on the bucket, and s3:GetObject, s3:PutObject, s3:DeleteObject "
    "and s3:AbortMultipartUpload below the prefix";

struct CodeHint {
  std::string_view code;
  std::string_view hint;
};

/// Amazon S3 API reference, "Error responses"; MinIO uses the same codes.
constexpr std::array hints = {
    CodeHint{"SignatureDoesNotMatch",
             "check AWS_SECRET_ACCESS_KEY, or the profile in ~/.aws/credentials; a proxy that "
             "changes requests breaks signatures, too"},
    CodeHint{"InvalidAccessKeyId",
             "check AWS_ACCESS_KEY_ID, and whether AWS_ENDPOINT_URL_S3 names the storage that it "
             "is for"},
    CodeHint{"ExpiredToken", "the temporary keys have expired: get new ones"},
    CodeHint{"InvalidToken", "AWS_SESSION_TOKEN does not belong to these keys: get new ones"},
    CodeHint{"RequestTimeTooSkewed", "set the clock of this machine"},
    CodeHint{"AccessDenied", rights},
    CodeHint{"NoSuchBucket", "create the bucket, or check its name and AWS_ENDPOINT_URL_S3"},
    CodeHint{"SlowDown", "the storage is busy: run the command again, which goes on"},
    CodeHint{"ServiceUnavailable", "the storage is busy: run the command again, which goes on"},
    CodeHint{"InternalError", "run the command again, which goes on"},
    CodeHint{"RequestTimeout", "run the command again, which goes on"},
    CodeHint{"XAmzContentSHA256Mismatch",
             "the bytes changed on their way, or another program changed the file: run the command "
             "again"},
    CodeHint{"BadDigest", "the bytes changed on their way: run the command again"},
    CodeHint{"QuotaExceeded", "free space in the storage"},
    CodeHint{"XMinioStorageFull", "free space in the storage"},
};

/// A server may have learnt some of them from the request.
std::string without_keys(std::string text, const StorageKeys& keys) {
  for (const std::string* secret : {&keys.secret, &keys.token, &keys.id}) {
    if (secret->empty()) continue;
    for (std::size_t at = text.find(*secret); at != std::string::npos;
         at = text.find(*secret, at + 3))
      text.replace(at, secret->size(), "***");
  }
  return text;
}

/// What a server says, on one line.
std::string message_of(const HttpResponse& response, const StorageKeys& keys) {
  std::string message = without_keys(xml_text(response.body, "Message"), keys);
  std::ranges::replace_if(message, text::is_ascii_space, ' ');
  if (message.size() > longest_message) message = message.substr(0, longest_message) + "...";
  return redact_url(text::printable(text::trim_ascii(message)));
}

/// The region that the server says the bucket is in.
std::string other_region(const HttpResponse& response) {
  const auto header = response.said.find("x-amz-bucket-region");
  std::string region =
      header != response.said.end() ? header->second : xml_text(response.body, "Region");
  const bool plain = region.size() <= 32 && std::ranges::all_of(region, [](char c) {
                       return text::is_ascii_alnum(c) || c == '-';
                     });
  return plain ? region : std::string();
}

std::string redirect_hint(const HttpResponse& response, const StorageAccess& access) {
  if (const std::string region = other_region(response); !region.empty())
    return fmt::format("the bucket is in another region: set AWS_REGION={}", region);
  std::string to = xml_text(response.body, "Endpoint");
  if (const auto location = response.said.find("location"); location != response.said.end())
    to = split_url(location->second).authority;
  if (!to.empty() && to.size() <= 255 && to.find_first_of(" @?\t\r\n") == std::string::npos) {
    return fmt::format(
        "keys are not sent elsewhere: if {} is the storage, set AWS_ENDPOINT_URL_S3 to it",
        text::printable(to));
  }
  return access.endpoint.empty() ? "check AWS_REGION" : "check AWS_ENDPOINT_URL_S3 and AWS_REGION";
}

}  // namespace

std::string xml_text(std::string_view xml, std::string_view name) {
  const std::string open = fmt::format("<{}>", name);
  const std::size_t begin = xml.find(open);
  if (begin == std::string_view::npos) return {};
  const std::string_view rest = xml.substr(begin + open.size());
  const std::size_t end = rest.find(fmt::format("</{}>", name));
  if (end == std::string_view::npos) return {};
  static constexpr std::pair<std::string_view, char> entities[] = {
      {"&lt;", '<'},    {"&gt;", '>'},   {"&quot;", '"'}, {"&#34;", '"'},
      {"&apos;", '\''}, {"&#39;", '\''}, {"&amp;", '&'}};
  std::string text;
  for (std::size_t i = 0; i < end;) {
    const std::string_view left = rest.substr(i, end - i);
    const auto* const entity = std::ranges::find_if(
        entities, [&](const auto& one) { return left.starts_with(one.first); });
    text += entity == std::end(entities) ? left.front() : entity->second;
    i += entity == std::end(entities) ? 1 : entity->first.size();
  }
  return text;
}

std::string refusal_code(const HttpResponse& response) {
  std::string code = xml_text(response.body, "Code");
  const bool plain = code.size() <= longest_code && std::ranges::all_of(code, text::is_ascii_alnum);
  return plain ? code : std::string();
}

Error storage_refusal(std::string_view action, std::string_view url, const HttpResponse& response,
                      const StorageAccess& access) {
  const std::string code = refusal_code(response);
  const std::string message = code.empty() ? std::string() : message_of(response, access.keys);
  Error error{
      ErrorKind::io,
      fmt::format("{}: the storage does not let us {} it: {}{}{}", redact_url(url), action,
                  code.empty() ? fmt::format("status {}", response.status)
                               : fmt::format("{} (status {})", without_keys(code, access.keys),
                                             response.status),
                  message.empty() ? "" : ": ", message)};
  const auto* const known = std::ranges::find(hints, code, &CodeHint::code);
  const bool elsewhere = (response.status >= 300 && response.status < 400) ||
                         code == "AuthorizationHeaderMalformed" ||
                         code == "IllegalLocationConstraintException";
  if (elsewhere) {
    error.hint = without_keys(redirect_hint(response, access), access.keys);
  } else if (known != hints.end()) {
    error.hint = known->hint;
  } else if (response.status == 401 || response.status == 403) {
    error.hint = rights;
  } else if (response.status >= 500) {
    error.hint = "run the command again, which goes on; or ask the operator of the storage";
  } else {
    error.hint = "check AWS_ENDPOINT_URL_S3: is it the address of a storage of S3's kind?";
  }
  return error;
}

}  // namespace axle::index
