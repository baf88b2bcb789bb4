#pragma once
// Signatures of SSH keys on files, as `ssh-keygen -Y sign` makes them (OpenSSH's PROTOCOL.sshsig):
// they are verified here with OpenSSL, no program is called.

#include <string>
#include <string_view>

#include "foundation/report/error.h"

namespace axle::wheel {

struct SshSignature {
  std::string key;         ///< as in a public key file, decoded
  std::string name_space;  ///< what the signature is for
  std::string hash;        ///< of the message: sha256 or sha512
  std::string algorithm;   ///< "ssh-ed25519", "rsa-sha2-512", …
  std::string bytes;       ///< as `algorithm` has them
};

/// `text`: "-----BEGIN SSH SIGNATURE-----" and so on. Error: malformed.
[[nodiscard]] Result<SshSignature> parse_ssh_signature(std::string_view text,
                                                       const std::string& where);

/// That its key has signed `message`; who that is, is another question (allowed_signers.h). Errors:
/// mismatch; unsupported: a kind of key or hash that is not verified here.
[[nodiscard]] Result<void> check_ssh_signature(const SshSignature& signature,
                                               std::string_view message, const std::string& where);

/// "ssh-ed25519", of a key as in SshSignature; empty: it is none.
[[nodiscard]] std::string_view ssh_key_type(std::string_view key);
/// "SHA256:…", as ssh-keygen shows it.
[[nodiscard]] std::string ssh_key_fingerprint(std::string_view key);

}  // namespace axle::wheel
