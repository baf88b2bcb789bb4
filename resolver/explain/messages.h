#pragma once
// The solver's errors as text: what was requested, by what, what is available, and why it does not
// fit.

#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "plan/decision.h"
#include "resolver/catalogue/candidates.h"
#include "resolver/request/options.h"
#include "resolver/request/target.h"
#include "resolver/request/want.h"
#include "wheel/version.h"

namespace axle::resolver {

/// " (read from nvml)": where something about the machine is known from.
[[nodiscard]] std::string read_from(std::string_view source);

/// "3.12.4"; "3.12" where the patch release is not known.
[[nodiscard]] std::string shown_python(const Target& target);
/// For a package that needs another Python than the target's.
[[nodiscard]] std::string hint_for_python(std::string_view needed, const Target& target);

/// "c<2 (required by a 1.0)".
[[nodiscard]] std::string render_want(const Want& want);
/// "a 1.0 wants c<2, b 1.0 wants c>=2".
[[nodiscard]] std::string render_wants(const std::vector<const Want*>& wants);

/// "cu130: driver 535.54 runs CUDA up to 12.2, and the build needs 13.0 (read from nvml)".
[[nodiscard]] std::string render_verdict(const plan::Verdict& verdict);

/// A package of an index requires `name` from a URL that the user did not request.
[[nodiscard]] Error url_not_named(std::string_view name, const Want& want);
/// `who` forbids wheels of `name`, and nothing else of it is installed without the user's consent.
[[nodiscard]] Error wheels_forbidden(std::string_view name, const std::vector<const Want*>& wants,
                                     std::string_view who, const Options& options);

/// `looked_in` is empty if there is nothing to search. `known`: names of others, of which a
/// misspelt one may be meant.
[[nodiscard]] Error no_such_package(std::string_view name, const std::vector<const Want*>& wants,
                                    std::string_view looked_in,
                                    const std::vector<std::string>& known);
[[nodiscard]] Error no_such_version(std::string_view name, const Want& want,
                                    const std::vector<KnownVersion>& versions,
                                    Prereleases prereleases);
[[nodiscard]] Error no_common_version(std::string_view name, const std::vector<const Want*>& wants,
                                      const std::vector<KnownVersion>& versions);
/// No wheel of `release` fits `target`: the deciding facts, and each wheel with its reason. Where
/// its source distribution was built in vain, why.
[[nodiscard]] Error nothing_fits(std::string_view name, const Release& release,
                                 const plan::Decision& decision, const Target& target,
                                 const Options& options);

/// A requested label that is not available.
[[nodiscard]] Error label_unavailable(std::string_view name, const Release& release,
                                      std::string_view label, const std::vector<std::string>& known,
                                      const plan::Decision& decision);

}  // namespace axle::resolver
