#pragma once
// The certificate of a signature: for minutes, for one run of a workflow or one account, with what
// the authority (Fulcio) knew of it.
// Source: https://github.com/sigstore/fulcio/blob/main/docs/oid-info.md

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/attestation/public_key.h"

struct x509_st;

namespace axle::wheel {

/// The last part of the extensions' number, 1.3.6.1.4.1.57264.1.N.
enum class Claim : std::uint8_t {
  issuer = 8,
  build_signer_uri = 9,
  source_repository = 12,
  source_digest = 13,
  source_ref = 14,
  build_config_uri = 18,
};

class Certificate {
 public:
  /// `der`: of one certificate. Error: malformed.
  [[nodiscard]] static Result<Certificate> parse(std::string_view der);

  [[nodiscard]] const std::string& der() const { return der_; }
  /// The text of an extension that is a UTF8String; nullopt: there is none.
  [[nodiscard]] std::optional<std::string> claim(Claim claim) const;
  /// The mail addresses that it names (subjectAltName).
  [[nodiscard]] std::vector<std::string> emails() const;
  /// nullopt: its key is not one of an elliptic curve.
  [[nodiscard]] std::optional<PublicKey> key() const;
  /// Its SubjectPublicKeyInfo, in DER.
  [[nodiscard]] std::string key_bytes() const;
  /// The value of the extension of that number ("1.3.6.…"); nullopt: it has none, or several.
  [[nodiscard]] std::optional<std::string> extension(std::string_view number) const;
  /// What its authority signed, without the extension of that number (RFC 6962 §3.1); "": it
  /// has none.
  [[nodiscard]] std::string signed_part_without(std::string_view number) const;

  /// Whether it may sign files: mismatch, if not.
  [[nodiscard]] Result<void> may_sign() const;
  /// Whether `authorities`, of which the last has signed itself, vouch for it at `time` (seconds
  /// since 1970): the public key of its issuer, as of key_bytes. Error: mismatch.
  [[nodiscard]] Result<std::string> issuer_among(const std::vector<Certificate>& authorities,
                                                 std::int64_t time) const;

 private:
  struct Deleter {
    void operator()(x509_st* certificate) const;
  };
  Certificate(x509_st* parsed, std::string_view der) : parsed_(parsed), der_(der) {}

  /// -1: none.
  [[nodiscard]] int place_of(std::string_view number) const;

  std::unique_ptr<x509_st, Deleter> parsed_;
  std::string der_;
};

}  // namespace axle::wheel
