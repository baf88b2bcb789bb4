#pragma once
// Signs the list of a bundle with an SSH key. `ssh-keygen` does it, as for git: it knows agents,
// passphrases and hardware, and no private key is read here.

#include <string>

#include "foundation/report/error.h"

namespace axle::session {

/// The signature on `list` by the key in the file `key`, which may ask for a passphrase on the
/// terminal. Files are written to `folder`, which is this command's own. Errors: not_found (no
/// ssh-keygen), io; unsupported (it refused, or has a kind of key that is not verified here).
[[nodiscard]] Result<std::string> sign_bundle_list(const std::string& list, const std::string& key,
                                                   const std::string& folder);

}  // namespace axle::session
