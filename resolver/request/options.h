#pragma once
// What the user says of how packages are chosen, whatever is asked for.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "resolver/request/provider_policy.h"
#include "resolver/request/upload_cutoff.h"
#include "resolver/request/wheel_use.h"

namespace axle::resolver {

struct Options {
  bool dependencies = true;  ///< false: --no-deps
  bool prereleases = false;  ///< --pre
  /// -U: requested packages only, as pip's default strategy "only-if-needed"
  bool upgrade = false;
  bool reinstall = false;
  bool variants = true;                           ///< --no-variants
  std::set<std::string, std::less<>> plain_only;  ///< --no-variants=PKG, normalised names
  std::map<std::string, std::string, std::less<>> pinned_variants;  ///< --variant PKG=LABEL
  /// Family -> label: --torch-backend. Taken whether the machine can run it or not.
  std::map<std::string, std::string, std::less<>> forced_labels;
  bool allow_backend_change = false;  ///< --allow-backend-change
  /// Families whose installed label may change: --torch-backend auto.
  std::set<std::string, std::less<>> open_families;
  /// Namespaces without which nothing may be chosen that has builds for them: --require.
  std::set<std::string, std::less<>> required;
  ProviderPolicy providers;
  UploadCutoffs cutoffs;
  WheelUse wheel_use;
  std::vector<std::string> trusted_hosts;  ///< "host" or "host:port": plain http will do
  /// Everything must be pinned and have a hash: --require-hashes. Not set: everything must have a
  /// hash as soon as one thing has (pip's rule).
  std::optional<bool> require_hashes;
  bool verify_hashes = true;  ///< false: listed hashes do not count, unless they are required
};

}  // namespace axle::resolver
