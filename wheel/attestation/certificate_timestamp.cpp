#include "wheel/attestation/certificate_timestamp.h"

#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "foundation/text/quote.h"
#include "wheel/attestation/der.h"
#include "wheel/hash/sha256.h"

namespace axle::wheel {
namespace {

constexpr std::string_view timestamps_extension = "1.3.6.1.4.1.11129.2.4.2";

/// Big-endian numbers and texts with their lengths before them (RFC 8446 §3).
class TlsReader {
 public:
  explicit TlsReader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] bool is_complete() const { return sound_ && rest_.empty(); }
  std::string_view bytes(std::size_t count) {
    if (count > rest_.size()) {
      sound_ = false;
      rest_ = {};
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  std::uint64_t number(std::size_t count) {
    std::uint64_t value = 0;
    for (const char byte : bytes(count)) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
  }
  std::string_view text() { return bytes(number(2)); }

 private:
  std::string_view rest_;
  bool sound_ = true;
};

void put_number(std::string& out, std::uint64_t value, unsigned count) {
  while (count-- > 0) out += static_cast<char>(value >> (8 * count) & 0xff);
}

struct Timestamp {
  std::string_view log_id;
  std::uint64_t milliseconds = 0;
  std::string_view extensions;
  std::string_view signature;
};

/// The only one of a list; nullopt: there are others, or it is not of version 1 by ECDSA or RSA
/// with SHA-256.
std::optional<Timestamp> parse_timestamps(std::string_view list) {
  constexpr std::uint64_t version_1 = 0;
  constexpr std::uint64_t sha256_hash = 4;
  constexpr std::uint64_t rsa = 1;
  constexpr std::uint64_t ecdsa = 3;
  constexpr std::size_t id_bytes = 32;
  TlsReader whole(list);
  TlsReader entries(whole.text());
  TlsReader one(entries.text());
  if (!whole.is_complete() || !entries.is_complete()) return std::nullopt;
  Timestamp timestamp;
  if (one.number(1) != version_1) return std::nullopt;
  timestamp.log_id = one.bytes(id_bytes);
  timestamp.milliseconds = one.number(8);
  timestamp.extensions = one.text();
  const bool known_hash = one.number(1) == sha256_hash;
  const std::uint64_t algorithm = one.number(1);
  timestamp.signature = one.text();
  if (!one.is_complete() || !known_hash || (algorithm != rsa && algorithm != ecdsa))
    return std::nullopt;
  return timestamp;
}

/// RFC 6962 §3.2: `digitally-signed` of a certificate that has not been issued yet.
std::string signed_text(const Timestamp& timestamp, std::string_view issuer_key,
                        std::string_view to_be_signed) {
  constexpr char version_1 = 0;
  constexpr char certificate_timestamp = 0;
  constexpr std::uint64_t precertificate = 1;
  std::string text{version_1, certificate_timestamp};
  put_number(text, timestamp.milliseconds, 8);
  put_number(text, precertificate, 2);
  const Sha256Digest issuer = sha256(issuer_key);
  text.append(reinterpret_cast<const char*>(issuer.data()), issuer.size());
  put_number(text, to_be_signed.size(), 3);
  text += to_be_signed;
  put_number(text, timestamp.extensions.size(), 2);
  text += timestamp.extensions;
  return text;
}

}  // namespace

Result<void> check_certificate_timestamp(const Certificate& certificate,
                                         std::string_view issuer_key, const TrustedRoot& root) {
  const auto extension = certificate.extension(timestamps_extension);
  if (!extension)
    return fail(ErrorKind::mismatch, "its certificate has no timestamp of a log of certificates");
  const auto list = der_content(*extension, der_octet_string);
  const auto timestamp = list ? parse_timestamps(*list) : std::nullopt;
  if (!timestamp) {
    return fail(ErrorKind::mismatch,
                "its certificate has not exactly one timestamp of a log of certificates in a form "
                "that is known here");
  }
  const TrustedLog* const log = TrustedRoot::find(root.certificate_logs, timestamp->log_id);
  if (log == nullptr)
    return fail(ErrorKind::mismatch, "its certificate is in a log that is not trusted");
  if (!log->valid.contains(static_cast<std::int64_t>(timestamp->milliseconds / 1000))) {
    return fail(ErrorKind::mismatch,
                fmt::format("the log {} was not trusted when it got the certificate",
                            text::quote(log->name)));
  }
  const std::string to_be_signed = certificate.signed_part_without(timestamps_extension);
  if (log->key.has_signed(signed_text(*timestamp, issuer_key, to_be_signed), timestamp->signature))
    return {};
  return fail(ErrorKind::mismatch,
              fmt::format("the signature of the log {} on the certificate is not valid",
                          text::quote(log->name)));
}

}  // namespace axle::wheel
