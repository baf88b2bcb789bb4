#include "index/storage/signature.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <span>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "index/http/url.h"
#include "wheel/hash/sha256.h"

namespace axle::index {
namespace {

constexpr std::string_view algorithm = "AWS4-HMAC-SHA256";

std::string_view as_text(const wheel::Sha256Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

/// RFC 2104.
wheel::Sha256Digest hmac(std::string_view key, std::string_view text) {
  constexpr std::size_t block = 64;
  const wheel::Sha256Digest short_key = wheel::sha256(key);
  if (key.size() > block) key = as_text(short_key);
  std::array<char, block> inner{};
  std::array<char, block> outer{};
  for (std::size_t i = 0; i < block; ++i) {
    const char byte = i < key.size() ? key[i] : '\0';
    inner[i] = static_cast<char>(byte ^ 0x36);
    outer[i] = static_cast<char>(byte ^ 0x5c);
  }
  wheel::Sha256 inside;
  inside.update(std::as_bytes(std::span(inner)));
  inside.update(std::as_bytes(std::span(text)));
  const wheel::Sha256Digest hashed = inside.finish();
  wheel::Sha256 outside;
  outside.update(std::as_bytes(std::span(outer)));
  outside.update(std::as_bytes(std::span(hashed)));
  return outside.finish();
}

/// Without blanks around it, each row of them inside as one.
std::string canonical_value(std::string_view value) {
  std::string result;
  for (const char c : text::trim_ascii(value)) {
    if (c != ' ' || !result.ends_with(' ')) result += c;
  }
  return result;
}

}  // namespace

std::string render_query(const QueryPairs& query) {
  QueryPairs encoded;
  for (const auto& [name, value] : query)
    encoded.emplace_back(percent_encode(name, false), percent_encode(value, false));
  std::ranges::sort(encoded);
  std::string text;
  for (const auto& [name, value] : encoded) text += (text.empty() ? "" : "&") + name + '=' + value;
  return text;
}

std::string signing_time(std::int64_t unix_time) {
  const std::time_t seconds = unix_time;
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &parts);
  return {text.data(), size};
}

std::string sign_request(const RequestToSign& request, const StorageKeys& keys,
                         const SigningScope& scope, std::string_view time) {
  auto headers = request.headers;
  std::ranges::sort(headers);
  std::string names;
  std::string lines;
  for (const auto& [name, value] : headers) {
    names += (names.empty() ? "" : ";") + name;
    lines += name + ':' + canonical_value(value) + '\n';
  }
  const std::string canonical =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", request.method, request.path,
                  render_query(request.query), lines, names, request.payload_sha256);
  const std::string_view day = time.substr(0, 8);
  const std::string place = fmt::format("{}/{}/{}/aws4_request", day, scope.region, scope.service);
  const std::string text = fmt::format("{}\n{}\n{}\n{}", algorithm, time, place,
                                       wheel::render_hex(wheel::sha256(canonical)));
  wheel::Sha256Digest key = hmac("AWS4" + keys.secret, day);
  for (const std::string_view part :
       {std::string_view(scope.region), std::string_view(scope.service),
        std::string_view("aws4_request")})
    key = hmac(as_text(key), part);
  return fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}", algorithm, keys.id,
                     place, names, wheel::render_hex(hmac(as_text(key), text)));
}

}  // namespace axle::index
