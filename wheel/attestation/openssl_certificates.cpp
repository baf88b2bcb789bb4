#include "wheel/attestation/openssl_certificates.h"

#include "wheel/libraries/opened_libraries.h"

namespace axle::wheel {
namespace {

OpensslCertificates open_certificates() {
  OpensslCertificates functions;
  find_in_libcrypto("d2i_X509", functions.parse_certificate);
  find_in_libcrypto("i2d_X509", functions.certificate_bytes);
  find_in_libcrypto("X509_dup", functions.copy_certificate);
  find_in_libcrypto("X509_free", functions.free_certificate);
  find_in_libcrypto("X509_get0_pubkey", functions.certificate_key);
  find_in_libcrypto("X509_get_key_usage", functions.key_usage);
  find_in_libcrypto("X509_get_extended_key_usage", functions.extended_key_usage);
  find_in_libcrypto("X509_get_ext_count", functions.extension_count);
  find_in_libcrypto("X509_get_ext", functions.extension);
  find_in_libcrypto("X509_delete_ext", functions.take_extension);
  find_in_libcrypto("X509_EXTENSION_free", functions.free_extension);
  find_in_libcrypto("X509_EXTENSION_get_object", functions.extension_object);
  find_in_libcrypto("X509_EXTENSION_get_data", functions.extension_data);
  find_in_libcrypto("i2d_re_X509_tbs", functions.encode_tbs_again);
  find_in_libcrypto("OBJ_obj2txt", functions.object_text);
  find_in_libcrypto("ASN1_STRING_get0_data", functions.string_data);
  find_in_libcrypto("ASN1_STRING_length", functions.string_length);
  find_in_libcrypto("X509_STORE_new", functions.new_store);
  find_in_libcrypto("X509_STORE_free", functions.free_store);
  find_in_libcrypto("X509_STORE_add_cert", functions.add_to_store);
  find_in_libcrypto("X509_STORE_CTX_new", functions.new_check);
  find_in_libcrypto("X509_STORE_CTX_free", functions.free_check);
  find_in_libcrypto("X509_STORE_CTX_init", functions.begin_check);
  find_in_libcrypto("X509_STORE_CTX_get0_param", functions.check_parameters);
  find_in_libcrypto("X509_VERIFY_PARAM_set_time", functions.set_check_time);
  find_in_libcrypto("X509_VERIFY_PARAM_set_flags", functions.set_check_flags);
  find_in_libcrypto("X509_verify_cert", functions.check_certificate);
  find_in_libcrypto("X509_STORE_CTX_get_error", functions.check_error);
  find_in_libcrypto("X509_verify_cert_error_string", functions.error_text);
  find_in_libcrypto("X509_STORE_CTX_get0_chain", functions.check_chain);
  find_in_libcrypto("OPENSSL_sk_num", functions.stack_size);
  find_in_libcrypto("OPENSSL_sk_value", functions.stack_value);
  find_in_libcrypto("d2i_PUBKEY", functions.parse_key);
  find_in_libcrypto("i2d_PUBKEY", functions.key_bytes);
  find_in_libcrypto("EVP_PKEY_up_ref", functions.share_key);
  find_in_libcrypto("EVP_PKEY_free", functions.free_key);
  find_in_libcrypto("EVP_PKEY_get_base_id", functions.key_type);
  find_in_libcrypto("EVP_MD_CTX_new", functions.new_digest);
  find_in_libcrypto("EVP_MD_CTX_free", functions.free_digest);
  find_in_libcrypto("EVP_sha256", functions.sha256);
  find_in_libcrypto("EVP_sha384", functions.sha384);
  find_in_libcrypto("EVP_sha512", functions.sha512);
  find_in_libcrypto("EVP_DigestVerifyInit", functions.begin_verification);
  find_in_libcrypto("EVP_DigestVerify", functions.verify);
  find_in_libcrypto("ERR_clear_error", functions.clear_errors);
  find_in_libcrypto("CRYPTO_free", functions.free_memory);
  return functions;
}

}  // namespace

const OpensslCertificates& openssl_certificates() {
  static const OpensslCertificates functions = open_certificates();
  return functions;
}

}  // namespace axle::wheel
