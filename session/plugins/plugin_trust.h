#pragma once
// Trusting plugins and revoking trust: what `variant providers trust` and `untrust` store.

#include <string>
#include <vector>

#include "session/command_failure.h"
#include "session/plugins/provider_settings.h"

namespace axle::session {

/// The conditions of trust.
struct TrustTerms {
  std::string ns;  ///< empty: the file's own; for packages: any
  std::vector<std::string> devices;
};

/// The program or shared object at `path`. One file provides a namespace: the one that was trusted
/// last. Without a namespace in `terms` the file is run to report its own. Errors: not_found, io,
/// unsupported (others may write to it), malformed (its answer).
[[nodiscard]] Outcome<TrustedFile> trust_file(const std::string& path, const TrustTerms& terms,
                                              ProviderSettings& settings);

/// Errors: usage if it is not a valid package name.
[[nodiscard]] Outcome<TrustedPackage> trust_package(const std::string& name,
                                                    const TrustTerms& terms,
                                                    ProviderSettings& settings);

/// For the package or file. False: it was not trusted.
[[nodiscard]] bool end_trust(const std::string& name, ProviderSettings& settings);

}  // namespace axle::session
