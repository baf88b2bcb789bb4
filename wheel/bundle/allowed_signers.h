#pragma once
// Whose SSH signatures count: the file of allowed signers of `ssh-keygen -Y verify`, which git
// reads too (ssh-keygen(1), ALLOWED SIGNERS).

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"

namespace axle::wheel {

struct AllowedSigner {
  std::string principals;                        ///< who it is: "release@example.com"
  std::string key;                               ///< as in SshSignature
  std::optional<std::string> namespaces = {};    ///< patterns; nullopt: all
  std::optional<std::int64_t> valid_after = {};  ///< seconds since 1970
  std::optional<std::int64_t> valid_before = {};
  bool authority = false;  ///< signs certificates, nothing else: never counts here
};

/// Lines of "PRINCIPALS [OPTIONS] KEYTYPE KEY [COMMENT]"; empty ones and comments are skipped.
/// Times without a final Z are of this machine's zone, as for ssh-keygen. Error: malformed, with
/// the line.
[[nodiscard]] Result<std::vector<AllowedSigner>> parse_allowed_signers(std::string_view text,
                                                                       const std::string& where);

/// The one whose key this is, and may sign for `name_space` at `now`. Error: mismatch: why there is
/// none, as the end of a sentence.
[[nodiscard]] Result<const AllowedSigner*> find_allowed_signer(
    const std::vector<AllowedSigner>& signers, std::string_view key, std::string_view name_space,
    std::int64_t now);

}  // namespace axle::wheel
