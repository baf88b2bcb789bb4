#pragma once
// Checks the attestations of what is to be installed, before any of it is downloaded or built.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "foundation/report/report.h"
#include "index/http/transport.h"
#include "plan/attestation.h"
#include "plan/resolution.h"
#include "session/attestations/attestation_policy.h"
#include "session/command_failure.h"
#include "wheel/attestation/trusted_root.h"

namespace axle::session {

/// A file that an index, a folder or a link page lists.
struct ListedFile {
  std::string package;  ///< normalised
  std::string filename;
  std::string url;  ///< http(s) or file
  std::string
      provenance;      ///< URL; empty: for a file of this machine, "<file>.provenance" beside it
  std::string sha256;  ///< empty: not known before it is downloaded
};

class AttestationChecks {
 public:
  /// nullptr: the policy asks for nothing. `transport` and `report` must outlive it. Errors: the
  /// trusted root cannot be read, or is not valid.
  [[nodiscard]] static Outcome<std::unique_ptr<AttestationChecks>> open(AttestationPolicy policy,
                                                                        index::Transport& transport,
                                                                        Report& report);

  /// Whether the policy asks for anything of files of this package.
  [[nodiscard]] bool concerns(std::string_view package) const;
  /// Fills ResolvedPackage::attestation of all that is to be installed; the file of a package
  /// that has passed must have the attested sha256 from then on. Of what was built here the file
  /// counts that it was built from. Error: mismatch, for the first that has not passed and has to;
  /// the others are reported.
  [[nodiscard]] Result<void> check(plan::Resolution& resolution);
  /// That it may be built, before its code runs: nobody attests a folder or a repository, and of
  /// what has no name before it is built (`package` is empty then) no publisher can be expected.
  /// Errors: mismatch, if the package has to be attested; conflict, if it needs a name.
  [[nodiscard]] Result<void> allow_source(const std::string& package,
                                          const plan::BuiltFrom& source) const;
  /// One file. Error: mismatch, if it has not passed and has to.
  [[nodiscard]] Result<plan::AttestationVerdict> check(const ListedFile& file);

 private:
  AttestationChecks(AttestationPolicy policy, wheel::TrustedRoot root, index::Transport& transport,
                    Report& report)
      : policy_(std::move(policy)),
        root_(std::move(root)),
        transport_(transport),
        report_(report) {}

  [[nodiscard]] Result<plan::AttestationVerdict> check(const plan::ResolvedPackage& package);
  /// nullopt: there is none.
  [[nodiscard]] Result<std::optional<std::string>> read_provenance(const ListedFile& file);
  [[nodiscard]] plan::AttestationVerdict verdict_on(const ListedFile& file);
  /// `verdict`, if it is of the publisher that is expected of `package`.
  [[nodiscard]] plan::AttestationVerdict as_expected(const std::string& package,
                                                     plan::AttestationVerdict verdict) const;
  [[nodiscard]] Error refusal(const std::string& package, const std::string& filename,
                              const std::string& why) const;
  /// Error: mismatch, if it has not passed and has to; else what has not passed is reported.
  [[nodiscard]] Result<void> settle(const std::string& package, const std::string& filename,
                                    const plan::AttestationVerdict& verdict);

  AttestationPolicy policy_;
  wheel::TrustedRoot root_;
  index::Transport& transport_;
  Report& report_;
  std::map<std::string, plan::AttestationVerdict> built_from_;  ///< by sha256, whoever published it
};

}  // namespace axle::session
