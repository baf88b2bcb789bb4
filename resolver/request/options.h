#pragma once
// What the user says of how packages are chosen, whatever is asked for.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "resolver/request/prereleases.h"
#include "resolver/request/provider_policy.h"
#include "resolver/request/source_builder.h"
#include "resolver/request/upload_cutoff.h"
#include "resolver/request/wheel_use.h"
#include "resolver/request/withheld_builds.h"
#include "wheel/version.h"

namespace axle::resolver {

struct Options {
  bool dependencies = true;  ///< false: --no-deps
  Prereleases prereleases = Prereleases::if_necessary_or_explicit;
  /// -U: requested packages only, as pip's default strategy "only-if-needed"
  bool upgrade = false;
  std::set<std::string, std::less<>> upgrade_of;  ///< -P PKG: these, whoever asks for them
  /// Versions that are taken where they count and fit, before newer ones: those of a lock, the
  /// first before the others. By normalised name; of a build of a family without its label.
  std::map<std::string, std::vector<wheel::Version>, std::less<>> preferred;
  bool reinstall = false;
  std::set<std::string, std::less<>> reinstall_of;  ///< --reinstall-package, normalised names
  /// --alternatives: of distributions that install the same modules, the one that fits the machine
  bool alternatives = false;
  /// --overwrite: several such distributions may be in one environment.
  bool same_modules = false;
  bool variants = true;  ///< --no-variants
  /// Decisions list the files of a release that were left out: --explain and --json show them.
  bool whole_decisions = true;
  bool remarks = true;  ///< false: nobody reads why nothing newer or better is chosen
  std::set<std::string, std::less<>> plain_only;  ///< --no-variants=PKG, normalised names
  std::map<std::string, std::string, std::less<>> pinned_variants;  ///< --variant PKG=LABEL
  /// Family -> label: --torch-backend. Taken whether the machine can run it or not.
  std::map<std::string, std::string, std::less<>> forced_labels;
  bool allow_backend_change = false;  ///< --allow-backend-change
  /// Families whose installed label may change: --torch-backend auto.
  std::set<std::string, std::less<>> open_families;
  /// Namespaces without which nothing may be chosen that has builds for them: --require.
  std::set<std::string, std::less<>> required;
  /// What is not taken for the sake of a fleet, or of a budget: --minimize builds, --budget.
  WithheldBuilds withheld;
  /// URLs of wheels that are not taken, and why: what --check-abi found.
  std::map<std::string, std::string, std::less<>> refused_wheels;
  /// By URL of a wheel, the library which says what GPU platform that is for ("libcudart.so.12"),
  /// as --check-abi read it. It counts where neither label, name nor version says the platform.
  std::map<std::string, std::string, std::less<>> gpu_libraries;
  ProviderPolicy providers;
  UploadCutoffs cutoffs;
  WheelUse wheel_use;
  BuildConsent builds;
  std::vector<std::string> trusted_hosts;  ///< "host" or "host:port": plain http will do
  /// Everything must be pinned and have a hash: --require-hashes. Not set: everything must have a
  /// hash as soon as one thing has (pip's rule).
  std::optional<bool> require_hashes;
  bool verify_hashes = true;  ///< false: listed hashes do not count, unless they are required

  /// Who says that `name` is not built from source (no-build, --only-binary); nullptr: nobody.
  [[nodiscard]] const std::string* refuses_build(std::string_view name) const;
  /// "libcudart.so.12"; empty: nothing is known of the libraries of the wheel.
  [[nodiscard]] std::string_view gpu_library_of(std::string_view url) const;
  /// " (needs libcudart.so.12)", or nothing: what is said of a wheel whose platform is known by it.
  [[nodiscard]] std::string because_of_library(std::string_view url) const;
  /// The installed build of `name` does not count: it is chosen and installed again.
  [[nodiscard]] bool reinstalls(std::string_view name) const {
    return reinstall || reinstall_of.contains(name);
  }
  /// The user consents to builds of `name`, and they are possible here.
  [[nodiscard]] bool may_build(std::string_view name) const;
};

}  // namespace axle::resolver
