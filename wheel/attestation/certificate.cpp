#include "wheel/attestation/certificate.h"

#include <array>

#include <fmt/format.h>

#include "wheel/attestation/der.h"
#include "wheel/attestation/openssl_certificates.h"

namespace axle::wheel {
namespace {

/// What `encode`, one of OpenSSL's i2d functions, writes of `value`.
template <class Encode, class Value>
std::string encoded(Encode encode, Value* value) {
  const OpensslCertificates& openssl = openssl_certificates();
  unsigned char* bytes = nullptr;
  const int length = encode(value, &bytes);
  std::string text;
  if (length > 0) text.assign(reinterpret_cast<const char*>(bytes), static_cast<size_t>(length));
  openssl.free_memory(bytes, OPENSSL_FILE, OPENSSL_LINE);
  openssl.clear_errors();
  return text;
}

std::string number_of(X509_EXTENSION* extension) {
  const OpensslCertificates& openssl = openssl_certificates();
  constexpr int as_number = 1;
  std::array<char, 80> text{};
  const int length = openssl.object_text(text.data(), static_cast<int>(text.size()),
                                         openssl.extension_object(extension), as_number);
  return length > 0 && static_cast<std::size_t>(length) < text.size() ? text.data() : "";
}

/// X.509 certificates as RFC 5280 says, without OpenSSL's leniency.
constexpr unsigned long check_flags = X509_V_FLAG_X509_STRICT;

}  // namespace

void Certificate::Deleter::operator()(x509_st* certificate) const {
  openssl_certificates().free_certificate(certificate);
}

Result<Certificate> Certificate::parse(std::string_view der) {
  const OpensslCertificates& openssl = openssl_certificates();
  const unsigned char* at = bytes_of(der);
  Certificate certificate(openssl.parse_certificate(nullptr, &at, static_cast<long>(der.size())),
                          der);
  openssl.clear_errors();
  if (!certificate.parsed_) return fail(ErrorKind::malformed, "it is not an X.509 certificate");
  if (at != bytes_of(der) + der.size())
    return fail(ErrorKind::malformed, "something follows the certificate");
  return certificate;
}

int Certificate::place_of(std::string_view number) const {
  const OpensslCertificates& openssl = openssl_certificates();
  int place = -1;
  for (int i = 0; i < openssl.extension_count(parsed_.get()); ++i) {
    if (number_of(openssl.extension(parsed_.get(), i)) != number) continue;
    if (place >= 0) return -1;
    place = i;
  }
  return place;
}

std::optional<std::string> Certificate::extension(std::string_view number) const {
  const OpensslCertificates& openssl = openssl_certificates();
  const int place = place_of(number);
  if (place < 0) return std::nullopt;
  const ASN1_OCTET_STRING* value = openssl.extension_data(openssl.extension(parsed_.get(), place));
  return std::string(reinterpret_cast<const char*>(openssl.string_data(value)),
                     static_cast<std::size_t>(openssl.string_length(value)));
}

std::optional<std::string> Certificate::claim(Claim claim) const {
  const auto value = extension(fmt::format("1.3.6.1.4.1.57264.1.{}", static_cast<unsigned>(claim)));
  if (!value) return std::nullopt;
  const auto text = der_content(*value, der_utf8_string);
  return text ? std::optional<std::string>(*text) : std::nullopt;
}

std::vector<std::string> Certificate::emails() const {
  constexpr unsigned rfc822_name = 0x81;
  std::vector<std::string> found;
  const auto value = extension("2.5.29.17");
  const auto names = value ? der_content(*value, der_sequence) : std::nullopt;
  if (!names) return found;
  for (DerReader reader(*names); const auto name = reader.next();) {
    if (name->tag == rfc822_name) found.emplace_back(name->content);
  }
  return found;
}

std::optional<PublicKey> Certificate::key() const {
  return PublicKey::of(openssl_certificates().certificate_key(parsed_.get()),
                       SignatureScheme::ecdsa_sha256);
}

std::string Certificate::key_bytes() const {
  const OpensslCertificates& openssl = openssl_certificates();
  return encoded(openssl.key_bytes, openssl.certificate_key(parsed_.get()));
}

std::string Certificate::signed_part_without(std::string_view number) const {
  const OpensslCertificates& openssl = openssl_certificates();
  const int place = place_of(number);
  if (place < 0) return {};
  const std::unique_ptr<x509_st, Deleter> copy(openssl.copy_certificate(parsed_.get()));
  if (!copy) return {};
  openssl.free_extension(openssl.take_extension(copy.get(), place));
  return encoded(openssl.encode_tbs_again, copy.get());
}

Result<void> Certificate::may_sign() const {
  const OpensslCertificates& openssl = openssl_certificates();
  // Both are UINT32_MAX where the certificate says nothing.
  const std::uint32_t usage = openssl.key_usage(parsed_.get());
  const std::uint32_t purposes = openssl.extended_key_usage(parsed_.get());
  openssl.clear_errors();
  if (usage == UINT32_MAX || (usage & KU_DIGITAL_SIGNATURE) == 0)
    return fail(ErrorKind::mismatch, "its certificate is not for signatures");
  if (purposes == UINT32_MAX || (purposes & XKU_CODE_SIGN) == 0)
    return fail(ErrorKind::mismatch, "its certificate is not for signing code");
  return {};
}

Result<std::string> Certificate::issuer_among(const std::vector<Certificate>& authorities,
                                              std::int64_t time) const {
  const OpensslCertificates& openssl = openssl_certificates();
  const std::unique_ptr<X509_STORE, decltype(openssl.free_store)> store(openssl.new_store(),
                                                                        openssl.free_store);
  const std::unique_ptr<X509_STORE_CTX, decltype(openssl.free_check)> check(openssl.new_check(),
                                                                            openssl.free_check);
  bool ready = store && check;
  for (const Certificate& authority : authorities)
    ready = ready && openssl.add_to_store(store.get(), authority.parsed_.get()) == 1;
  ready = ready && openssl.begin_check(check.get(), store.get(), parsed_.get(), nullptr) == 1;
  if (!ready) {
    openssl.clear_errors();
    return fail(ErrorKind::mismatch, "OpenSSL cannot check its certificate");
  }
  X509_VERIFY_PARAM* parameters = openssl.check_parameters(check.get());
  openssl.set_check_time(parameters, time);
  openssl.set_check_flags(parameters, check_flags);
  const bool good = openssl.check_certificate(check.get()) == 1;
  openssl.clear_errors();
  if (!good) {
    return fail(ErrorKind::mismatch,
                fmt::format("its certificate is not one of the trusted authority: {}",
                            openssl.error_text(openssl.check_error(check.get()))));
  }
  const auto* chain = reinterpret_cast<const OPENSSL_STACK*>(openssl.check_chain(check.get()));
  if (openssl.stack_size(chain) < 2)
    return fail(ErrorKind::mismatch, "its certificate is that of an authority itself");
  auto* issuer = static_cast<X509*>(openssl.stack_value(chain, 1));
  return encoded(openssl.key_bytes, openssl.certificate_key(issuer));
}

}  // namespace axle::wheel
