#pragma once
// Requirements in, one wheel a package out. The search (conflict_solver.h) is complete: it finds a
// solution where there is one, and prefers the newest release of what is asked for first, then the
// best build of a release to an older release, and what is installed to anything else.
//
// Pre-releases of a package count with --pre, where a requirement or a constraint of the user's
// names one, where no final version satisfies one of the requirements, where there is nothing else,
// and at last, with a warning, where no final version goes with the rest. Yanked releases count
// where a requirement of the user's or of what is chosen pins them (PEP 592).
//
// What is installed and no part of the solution keeps what it requires. Nothing is brought in only
// so that it could move: that would look for a reason in every version of every package, and choose
// old ones for it. The refusal says what to name.

#include <expected>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "plan/installed_package.h"
#include "plan/resolution.h"
#include "resolver/catalogue/candidates.h"
#include "resolver/explain/explanation.h"
#include "resolver/request/options.h"
#include "resolver/request/requests.h"
#include "resolver/request/sources.h"
#include "resolver/request/target.h"
#include "resolver/solver/unresolved.h"

namespace axle::resolver {

/// Errors: not_found (no such package: where was looked), unsupported (versions exist, but no wheel
/// or no variant fits: each with its reason; exit 3), conflict (both requirements and who wants
/// them; a plan that changes the backend of what is installed unasked, or breaks an installed
/// package), malformed/mismatch/io from what was read.
[[nodiscard]] std::expected<plan::Resolution, Unresolved> resolve(
    const Requests& requests, const Target& target,
    const std::vector<plan::InstalledPackage>& installed, Candidates& candidates,
    const Options& options, Report& report);
/// The same of what `sources` have.
[[nodiscard]] std::expected<plan::Resolution, Unresolved> resolve(
    const Requests& requests, const Target& target,
    const std::vector<plan::InstalledPackage>& installed, const Sources& sources,
    const Options& options, Report& report);

/// Newest version that the requirement allows, with every variant's verdict, chosen or not.
[[nodiscard]] Result<Explanation> explain(const wheel::Requirement& requirement,
                                          const Target& target, Candidates& candidates,
                                          const Options& options, Report& report);
/// The same of what `sources` have.
[[nodiscard]] Result<Explanation> explain(const wheel::Requirement& requirement,
                                          const Target& target, const Sources& sources,
                                          const Options& options, Report& report);

}  // namespace axle::resolver
