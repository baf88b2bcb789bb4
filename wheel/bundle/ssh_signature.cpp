#include "wheel/bundle/ssh_signature.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/base64.h"
#include "foundation/text/quote.h"
#include "wheel/attestation/public_key.h"
#include "wheel/hash/named_hash.h"
#include "wheel/hash/sha256.h"

namespace axle::wheel {
namespace {

constexpr std::string_view begin_line = "-----BEGIN SSH SIGNATURE-----";
constexpr std::string_view end_line = "-----END SSH SIGNATURE-----";
constexpr std::string_view magic = "SSHSIG";
constexpr std::uint32_t format_version = 1;
constexpr std::size_t least_rsa_bytes = 256;  // shorter ones are no protection any more

/// Takes the values of SSH's formats (RFC 4251) from the front.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  bool literal(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  std::optional<std::uint32_t> number() {
    if (rest_.size() < 4) return std::nullopt;
    std::uint32_t value = 0;
    for (const char c : rest_.substr(0, 4)) value = (value << 8) | static_cast<unsigned char>(c);
    rest_.remove_prefix(4);
    return value;
  }
  std::optional<std::string_view> text() {
    const auto size = number();
    if (!size || *size > rest_.size()) return std::nullopt;
    const std::string_view taken = rest_.substr(0, *size);
    rest_.remove_prefix(*size);
    return taken;
  }
  /// A number above 0, as DER has it too: no zeros before it but one that keeps it positive.
  std::optional<std::string_view> positive() {
    const auto bytes = text();
    if (!bytes || bytes->empty() || (bytes->front() & 0x80) != 0) return std::nullopt;
    const bool padded = bytes->front() == 0 && (bytes->size() == 1 || ((*bytes)[1] & 0x80) == 0);
    return padded ? std::nullopt : bytes;
  }

 private:
  std::string_view rest_;
};

std::string wire_text(std::string_view text) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8)
    out += static_cast<char>((text.size() >> shift) & 0xFF);
  return out.append(text);
}

std::string der(unsigned tag, std::string_view content) {
  std::string length;
  for (std::size_t rest = content.size(); rest > 0; rest >>= 8)
    length.insert(length.begin(), static_cast<char>(rest & 0xFF));
  std::string out(1, static_cast<char>(tag));
  if (content.size() < 0x80) {
    out += static_cast<char>(content.size());
  } else {
    out += static_cast<char>(0x80 | length.size());
    out += length;
  }
  return out.append(content);
}

constexpr unsigned der_integer = 0x02;
constexpr unsigned der_bits = 0x03;
constexpr unsigned der_object = 0x06;
constexpr unsigned der_list = 0x30;

/// A SubjectPublicKeyInfo; `parameters` is encoded.
std::string key_info(std::string_view object, std::string_view parameters, std::string_view key) {
  const std::string kind = der(der_object, object) + std::string(parameters);
  return der(der_list, der(der_list, kind) + der(der_bits, std::string(1, '\0').append(key)));
}

struct Curve {
  std::string_view key_type;
  std::string_view name;
  std::string_view object;
  SignatureScheme scheme;
};
constexpr std::array curves = {
    Curve{"ecdsa-sha2-nistp256", "nistp256", "\x2a\x86\x48\xce\x3d\x03\x01\x07",
          SignatureScheme::ecdsa_sha256},
    Curve{"ecdsa-sha2-nistp384", "nistp384", std::string_view("\x2b\x81\x04\x00\x22", 5),
          SignatureScheme::ecdsa_sha384},
    Curve{"ecdsa-sha2-nistp521", "nistp521", std::string_view("\x2b\x81\x04\x00\x23", 5),
          SignatureScheme::ecdsa_sha512},
};
constexpr std::string_view object_ec = "\x2a\x86\x48\xce\x3d\x02\x01";
constexpr std::string_view object_rsa = "\x2a\x86\x48\x86\xf7\x0d\x01\x01\x01";
constexpr std::string_view object_ed25519 = "\x2b\x65\x70";

/// What OpenSSL takes.
struct Verifiable {
  std::string key;
  std::string signature;
  SignatureScheme scheme;
};

std::optional<Verifiable> ed25519(WireReader key, const SshSignature& signature) {
  const auto point = key.text();
  if (!point || !key.at_end() || signature.algorithm != "ssh-ed25519") return std::nullopt;
  return Verifiable{key_info(object_ed25519, "", *point), signature.bytes,
                    SignatureScheme::ed25519};
}

std::optional<Verifiable> ecdsa(const Curve& curve, WireReader key, const SshSignature& signature) {
  const auto name = key.text();
  const auto point = key.text();
  WireReader numbers(signature.bytes);
  const auto r = numbers.positive();
  const auto s = numbers.positive();
  if (name != curve.name || !point || !key.at_end() || !r || !s || !numbers.at_end() ||
      signature.algorithm != curve.key_type)
    return std::nullopt;
  return Verifiable{key_info(object_ec, der(der_object, curve.object), *point),
                    der(der_list, der(der_integer, *r) + der(der_integer, *s)), curve.scheme};
}

std::optional<Verifiable> rsa(WireReader key, const SshSignature& signature) {
  const auto exponent = key.positive();
  const auto modulus = key.positive();
  if (!exponent || !modulus || !key.at_end() || modulus->size() < least_rsa_bytes)
    return std::nullopt;
  const bool longer = signature.algorithm == "rsa-sha2-512";
  if (!longer && signature.algorithm != "rsa-sha2-256") return std::nullopt;
  const std::string numbers =
      der(der_list, der(der_integer, *modulus) + der(der_integer, *exponent));
  return Verifiable{key_info(object_rsa, std::string_view("\x05\x00", 2), numbers), signature.bytes,
                    longer ? SignatureScheme::rsa_sha512 : SignatureScheme::rsa_sha256};
}

std::optional<Verifiable> verifiable(const SshSignature& signature) {
  WireReader key(signature.key);
  const auto type = key.text();
  if (type == "ssh-ed25519") return ed25519(key, signature);
  if (type == "ssh-rsa") return rsa(key, signature);
  const auto* const curve = std::ranges::find(curves, type.value_or(""), &Curve::key_type);
  return curve == curves.end() ? std::nullopt : ecdsa(*curve, key, signature);
}

/// nullopt: not a hash that these signatures have.
std::optional<std::string> hash_of(std::string_view algorithm, std::string_view message) {
  if (algorithm == "sha256") {
    const Sha256Digest digest = sha256(message);
    return std::string(digest.begin(), digest.end());
  }
  if (algorithm != "sha512") return std::nullopt;
  NamedHash hash(algorithm);
  hash.update(std::as_bytes(std::span(message)));
  const std::string digits = hash.finish();
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  return bytes;
}

/// What is between the two lines, decoded.
std::optional<std::string> dearmoured(std::string_view text) {
  if (!text.starts_with(begin_line)) return std::nullopt;
  text.remove_prefix(begin_line.size());
  while (text.ends_with('\n') || text.ends_with('\r')) text.remove_suffix(1);
  if (!text.ends_with(end_line)) return std::nullopt;
  text.remove_suffix(end_line.size());
  std::string packed;
  std::ranges::copy_if(text, std::back_inserter(packed),
                       [](char c) { return c != '\n' && c != '\r'; });
  return text::decode_base64(packed);
}

std::optional<SshSignature> read_signature(std::string_view bytes) {
  WireReader reader(bytes);
  if (!reader.literal(magic) || reader.number() != format_version) return std::nullopt;
  const auto key = reader.text();
  const auto name_space = reader.text();
  const auto reserved = reader.text();
  const auto hash = reader.text();
  const auto signature = reader.text();
  if (!key || !name_space || name_space->empty() || !reserved || !reserved->empty() || !hash ||
      !signature || !reader.at_end())
    return std::nullopt;
  WireReader parts(*signature);
  const auto algorithm = parts.text();
  const auto made = parts.text();
  // Keys in hardware add fields to what they sign.
  const bool more = algorithm && algorithm->starts_with("sk-");
  if (!algorithm || !made || (!more && !parts.at_end())) return std::nullopt;
  return SshSignature{std::string(*key), std::string(*name_space), std::string(*hash),
                      std::string(*algorithm), std::string(*made)};
}

}  // namespace

Result<SshSignature> parse_ssh_signature(std::string_view text, const std::string& where) {
  const auto bytes = dearmoured(text);
  auto signature = bytes ? read_signature(*bytes) : std::nullopt;
  if (signature) return *std::move(signature);
  return fail(ErrorKind::malformed, fmt::format("{} is not a signature of an SSH key", where),
              "sign it again (ssh-keygen -Y sign)");
}

Result<void> check_ssh_signature(const SshSignature& signature, std::string_view message,
                                 const std::string& where) {
  const auto digest = hash_of(signature.hash, message);
  const auto parts = digest ? verifiable(signature) : std::nullopt;
  const auto key = parts ? PublicKey::parse(parts->key, parts->scheme) : std::nullopt;
  if (!key) {
    return fail(
        ErrorKind::unsupported,
        fmt::format("{}: a signature of the kind {} by a key of the kind {} is not verified here",
                    where, text::quote(signature.algorithm),
                    text::quote(ssh_key_type(signature.key))),
        "sign with a key of ssh-ed25519, ecdsa-sha2-nistp256, -384 or -521, or with ssh-rsa of at "
        "least 2048 bits");
  }
  const std::string signed_text = std::string(magic) + wire_text(signature.name_space) +
                                  wire_text("") + wire_text(signature.hash) + wire_text(*digest);
  if (key->has_signed(signed_text, parts->signature)) return {};
  return fail(
      ErrorKind::mismatch,
      fmt::format("{}: the key {} has not signed this", where, ssh_key_fingerprint(signature.key)),
      "what was signed was changed since: get it again");
}

std::string_view ssh_key_type(std::string_view key) {
  return WireReader(key).text().value_or(std::string_view());
}

std::string ssh_key_fingerprint(std::string_view key) {
  const Sha256Digest digest = sha256(key);
  std::string text = text::encode_base64(std::string(digest.begin(), digest.end()));
  text.resize(text.find('='));
  return "SHA256:" + text;
}

}  // namespace axle::wheel
