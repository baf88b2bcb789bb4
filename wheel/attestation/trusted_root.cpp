#include "wheel/attestation/trusted_root.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "foundation/documents/json_object.h"
#include "foundation/documents/json_tree.h"
#include "foundation/text/base64.h"
#include "foundation/text/quote.h"
#include "foundation/text/rfc3339.h"

namespace axle::wheel {
namespace {

using documents::JsonObject;

constexpr const char* media_type = "application/vnd.dev.sigstore.trustedroot+json;version=0.1";
constexpr const char* hint =
    "name the trusted_root.json that the Sigstore instance of the publishers distributes";

struct KeyDetails {
  std::string_view name;
  SignatureScheme scheme;
};
constexpr std::array known_details = {
    KeyDetails{"PKIX_ECDSA_P256_SHA_256", SignatureScheme::ecdsa_sha256},
    KeyDetails{"PKIX_ECDSA_P384_SHA_384", SignatureScheme::ecdsa_sha384},
    KeyDetails{"PKIX_ECDSA_P521_SHA_512", SignatureScheme::ecdsa_sha512},
    KeyDetails{"PKIX_RSA_PKCS1V15_2048_SHA256", SignatureScheme::rsa_sha256},
    KeyDetails{"PKIX_RSA_PKCS1V15_3072_SHA256", SignatureScheme::rsa_sha256},
    KeyDetails{"PKIX_RSA_PKCS1V15_4096_SHA256", SignatureScheme::rsa_sha256},
    KeyDetails{"PKIX_ED25519", SignatureScheme::ed25519},
};

std::string read_base64(JsonObject& object, std::string_view key) {
  object.require(key);
  const auto bytes = text::decode_base64(object.text(key));
  if (!bytes || bytes->empty()) object.refuse(key, "it is not base64");
  return bytes.value_or("");
}

std::optional<std::int64_t> read_time(JsonObject& object, std::string_view key) {
  constexpr std::int64_t second = 1'000'000;
  if (!object.has(key)) return std::nullopt;
  const std::string text = object.text(key);
  const auto time = text::parse_rfc3339(text);
  if (!time) {
    object.refuse(key,
                  fmt::format("{} is not a time as in 2026-01-31T12:00:00Z", text::quote(text)));
    return std::nullopt;
  }
  // The end of a second that has begun: "…:59.999Z" is still valid in that second.
  return *time / second;
}

TrustedTime read_times(JsonObject& object) {
  TrustedTime times;
  object.part("validFor", [&](JsonObject& valid) {
    times.start = read_time(valid, "start");
    times.end = read_time(valid, "end");
  });
  return times;
}

TrustedAuthority read_authority(JsonObject& object) {
  TrustedAuthority authority;
  authority.valid = read_times(object);
  object.require("certChain");
  object.part("certChain", [&](JsonObject& chain) {
    chain.require("certificates");
    chain.each("certificates", [&](JsonObject& one) {
      const std::string der = read_base64(one, "rawBytes");
      if (one.reading().error()) return;
      auto certificate = Certificate::parse(der);
      if (!certificate) return one.refuse("rawBytes", certificate.error().message);
      authority.chain.push_back(std::move(*certificate));
    });
  });
  if (authority.chain.empty()) object.refuse_object("it has no certificate");
  return authority;
}

/// nullopt also for kinds of keys that this version does not know.
std::optional<TrustedLog> read_log(JsonObject& object) {
  std::optional<SignatureScheme> scheme;
  std::string key;
  TrustedTime times;
  object.require("publicKey");
  object.part("publicKey", [&](JsonObject& part) {
    part.require("keyDetails");
    const std::string details = part.text("keyDetails");
    const auto* const known = std::ranges::find(known_details, details, &KeyDetails::name);
    if (known != known_details.end()) scheme = known->scheme;
    key = read_base64(part, "rawBytes");
    times = read_times(part);
  });
  std::string id;
  object.require("logId");
  object.part("logId", [&](JsonObject& part) { id = read_base64(part, "keyId"); });
  if (!scheme || object.reading().error()) return std::nullopt;
  auto parsed = PublicKey::parse(key, *scheme);
  if (!parsed) {
    object.refuse("publicKey", "it is not a public key of the kind that keyDetails names");
    return std::nullopt;
  }
  return TrustedLog{object.text("baseUrl"), std::move(id), std::move(*parsed), times};
}

void read_logs(JsonObject& root, std::string_view key, std::vector<TrustedLog>& logs) {
  root.require(key);
  root.each(key, [&](JsonObject& one) {
    if (auto log = read_log(one)) logs.push_back(std::move(*log));
  });
  if (logs.empty()) root.refuse(key, "none has a key of a kind that this version knows");
}

}  // namespace

const TrustedLog* TrustedRoot::find(const std::vector<TrustedLog>& logs, std::string_view id) {
  const auto found = std::ranges::find(logs, id, &TrustedLog::id);
  return found == logs.end() ? nullptr : &*found;
}

Result<TrustedRoot> parse_trusted_root(std::string_view text, const std::string& where) {
  auto tree = documents::parse_json_tree(text, where, {.bytes = max_trusted_root_bytes});
  if (!tree) {
    if (tree.error().hint.empty()) tree.error().hint = hint;
    return std::unexpected(tree.error());
  }
  documents::JsonReading reading(
      where, hint, {.longest_text = 64UL << 10, .most_items = 64, .unknown_keys = true});
  JsonObject root(*tree, reading);
  root.require("mediaType");
  const std::string type = root.text("mediaType");
  if (!reading.error() && type != media_type) {
    return fail(ErrorKind::unsupported,
                fmt::format("{}: {} is not a format of trusted roots that this version reads ({})",
                            where, text::quote(type), media_type),
                hint);
  }
  TrustedRoot trusted;
  root.require("certificateAuthorities");
  root.each("certificateAuthorities",
            [&](JsonObject& one) { trusted.authorities.push_back(read_authority(one)); });
  if (trusted.authorities.empty()) root.refuse("certificateAuthorities", "it is empty");
  read_logs(root, "tlogs", trusted.logs);
  read_logs(root, "ctlogs", trusted.certificate_logs);
  if (reading.error()) return std::unexpected(*reading.error());
  return trusted;
}

}  // namespace axle::wheel
