#pragma once
// Decisions as text and as JSON: the only rendering for --explain, `explain`, --json and errors.

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cli/output.h"
#include "detect/machine.h"
#include "plan/resolution.h"
#include "resolver/explain/explanation.h"
#include "resolver/solver/unresolved.h"

namespace axle::cli {

/// The choice in one line: "demo 1.0: v4, because x86_64 :: level :: v4 is supported and ranks
/// first".
[[nodiscard]] std::string render_answer(const plan::ResolvedPackage& package, const Output& output);

/// The ranking of one package: each variant, chosen, fitting or rejected, by which property and
/// fact of the machine; with --verbose also where all that is known from.
[[nodiscard]] std::string render_decision(const plan::Decision& decision,
                                          const std::string& chosen_label, const Output& output);

/// The answer of `explain`: the package and its ranking, whether chosen or not.
[[nodiscard]] std::string render_explanation(const resolver::Explanation& explanation,
                                             const Output& output);

/// One requested package on one of several machines.
struct FleetRow {
  std::string machine;
  std::string package;
  std::string build;  ///< "2.15.0 cu132"
  std::string size;   ///< "900 MB"; empty if the index does not give it
  std::string why;    ///< the reason of the choice, or what is missing
};
[[nodiscard]] FleetRow fleet_row(const std::string& machine, const plan::ResolvedPackage& package);
/// All rows as one table.
[[nodiscard]] std::string render_fleet(const std::vector<FleetRow>& rows, const Output& output);

[[nodiscard]] nlohmann::ordered_json decision_json(const plan::Decision& decision);
/// {file, url, sha256, subdirectory, commit, builder}; null: it was published as a wheel
[[nodiscard]] nlohmann::ordered_json built_from_json(const std::optional<plan::BuiltFrom>& from);
/// {passed, reason, attestations: [{publisher, predicate, sha256, log, log_index, logged_at}]}
[[nodiscard]] nlohmann::ordered_json attestation_json(const plan::AttestationVerdict& verdict);
/// {name, version, variant, wheel, url, sha256, size, built_from, decision}, and attestation where
/// it was checked
[[nodiscard]] nlohmann::ordered_json package_json(const plan::ResolvedPackage& package);
[[nodiscard]] nlohmann::ordered_json packages_json(
    const std::vector<plan::ResolvedPackage>& packages);
/// The same for a chosen package, else {name, version, decision}.
[[nodiscard]] nlohmann::ordered_json explanations_json(
    const std::vector<resolver::Explanation>& explanations);

/// What else `error` has where nothing can be chosen: `conflict`, how that comes about; of a
/// rejected plan `plans`, the installed builds and those that would replace them, and `broken`, the
/// installed packages that would break. Null: nothing.
[[nodiscard]] nlohmann::ordered_json unresolved_json(const resolver::Unresolved& unresolved);

/// The whole derivation of a conflict, a line a statement. Empty: there is none.
[[nodiscard]] std::string render_conflict(const plan::Conflict& conflict, const Output& output);

/// The label of a package in JSON: null for a plain wheel.
[[nodiscard]] nlohmann::ordered_json variant_json(const std::optional<std::string>& variant);

/// Warns about GPUs whose driver does not work if one of the decisions depends on that vendor, so
/// that a broken driver never silently results in a CPU install.
void warn_of_unusable_gpus(const std::vector<plan::ResolvedPackage>& packages,
                           const detect::Machine& machine, Report& report);

}  // namespace axle::cli
