#pragma once
// What libcrypto does with certificates and signatures (wheel/libraries/opened_libraries.h).

#include <memory>
#include <string_view>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

namespace axle::wheel {

/// As in their manual pages; the names without "X509_" and the like where one word says it.
struct OpensslCertificates {
  // X.509
  decltype(&::d2i_X509) parse_certificate = nullptr;
  decltype(&::i2d_X509) certificate_bytes = nullptr;
  decltype(&::X509_dup) copy_certificate = nullptr;
  decltype(&::X509_free) free_certificate = nullptr;
  decltype(&::X509_get0_pubkey) certificate_key = nullptr;
  decltype(&::X509_get_key_usage) key_usage = nullptr;
  decltype(&::X509_get_extended_key_usage) extended_key_usage = nullptr;
  decltype(&::X509_get_ext_count) extension_count = nullptr;
  decltype(&::X509_get_ext) extension = nullptr;
  decltype(&::X509_delete_ext) take_extension = nullptr;
  decltype(&::X509_EXTENSION_free) free_extension = nullptr;
  decltype(&::X509_EXTENSION_get_object) extension_object = nullptr;
  decltype(&::X509_EXTENSION_get_data) extension_data = nullptr;
  decltype(&::i2d_re_X509_tbs) encode_tbs_again = nullptr;
  decltype(&::OBJ_obj2txt) object_text = nullptr;
  decltype(&::ASN1_STRING_get0_data) string_data = nullptr;
  decltype(&::ASN1_STRING_length) string_length = nullptr;
  // chains
  decltype(&::X509_STORE_new) new_store = nullptr;
  decltype(&::X509_STORE_free) free_store = nullptr;
  decltype(&::X509_STORE_add_cert) add_to_store = nullptr;
  decltype(&::X509_STORE_CTX_new) new_check = nullptr;
  decltype(&::X509_STORE_CTX_free) free_check = nullptr;
  decltype(&::X509_STORE_CTX_init) begin_check = nullptr;
  decltype(&::X509_STORE_CTX_get0_param) check_parameters = nullptr;
  decltype(&::X509_VERIFY_PARAM_set_time) set_check_time = nullptr;
  decltype(&::X509_VERIFY_PARAM_set_flags) set_check_flags = nullptr;
  decltype(&::X509_verify_cert) check_certificate = nullptr;
  decltype(&::X509_STORE_CTX_get_error) check_error = nullptr;
  decltype(&::X509_verify_cert_error_string) error_text = nullptr;
  decltype(&::X509_STORE_CTX_get0_chain) check_chain = nullptr;
  decltype(&::OPENSSL_sk_num) stack_size = nullptr;
  decltype(&::OPENSSL_sk_value) stack_value = nullptr;
  // keys
  decltype(&::d2i_PUBKEY) parse_key = nullptr;
  decltype(&::i2d_PUBKEY) key_bytes = nullptr;
  decltype(&::EVP_PKEY_up_ref) share_key = nullptr;
  decltype(&::EVP_PKEY_free) free_key = nullptr;
  decltype(&::EVP_PKEY_get_base_id) key_type = nullptr;
  decltype(&::EVP_MD_CTX_new) new_digest = nullptr;
  decltype(&::EVP_MD_CTX_free) free_digest = nullptr;
  decltype(&::EVP_sha256) sha256 = nullptr;
  decltype(&::EVP_sha384) sha384 = nullptr;
  decltype(&::EVP_sha512) sha512 = nullptr;
  decltype(&::EVP_DigestVerifyInit) begin_verification = nullptr;
  decltype(&::EVP_DigestVerify) verify = nullptr;
  decltype(&::ERR_clear_error) clear_errors = nullptr;
  decltype(&::CRYPTO_free) free_memory = nullptr;
};

/// Throws as library_function does.
[[nodiscard]] const OpensslCertificates& openssl_certificates();

/// As libcrypto takes bytes.
[[nodiscard]] inline const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

struct CertificateDeleter {
  void operator()(X509* certificate) const { openssl_certificates().free_certificate(certificate); }
};
using CertificatePointer = std::unique_ptr<X509, CertificateDeleter>;

}  // namespace axle::wheel
