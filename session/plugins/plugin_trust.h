#pragma once
// Trusting plugins, and ending that: what `variant providers trust` and `untrust` write down.

#include <string>
#include <vector>

#include "session/command_failure.h"
#include "session/plugins/provider_settings.h"

namespace axle::session {

/// What is given with trust.
struct TrustTerms {
  std::string ns;  ///< empty: the file's own; of packages: any
  std::vector<std::string> devices;
};

/// The program or shared object at `path`. One file answers for a namespace: the last one that was
/// trusted. Without a namespace in `terms` the file is asked for its own: it runs. Errors:
/// not_found, io, unsupported (others may write to it), malformed (its answer).
[[nodiscard]] Outcome<TrustedFile> trust_file(const std::string& path, const TrustTerms& terms,
                                              ProviderSettings& settings);

/// Errors: usage for what is not a package name.
[[nodiscard]] Outcome<TrustedPackage> trust_package(const std::string& name,
                                                    const TrustTerms& terms,
                                                    ProviderSettings& settings);

/// Of the package or file. False: it was not trusted.
[[nodiscard]] bool end_trust(const std::string& name, ProviderSettings& settings);

}  // namespace axle::session
