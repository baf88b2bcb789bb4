#pragma once
// Signatures that ssh-keygen (OpenSSH 9.2) made of keys that were thrown away:
//     ssh-keygen -q -t ed25519 -N '' -C release -f key
//     ssh-keygen -Y sign -n axle-bundle -f key FILE

#include <string_view>
#include <vector>

namespace axle::wheel::testing {

/// What all of them sign.
inline constexpr std::string_view signed_message = "what was signed\n";

struct SignedSample {
  std::string_view name;
  std::string_view key;          ///< KEYTYPE KEY, as in a public key file
  std::string_view fingerprint;  ///< as `ssh-keygen -l` shows it
  std::string_view name_space;
  std::string_view hash;
  std::string_view signature;  ///< as ssh-keygen wrote it
};

[[nodiscard]] const std::vector<SignedSample>& signed_samples();
/// The one of that name.
[[nodiscard]] const SignedSample& signed_sample(std::string_view name);

}  // namespace axle::wheel::testing
