#pragma once
// Requirements that name sources by their place alone: what is built from them says which package
// it is.

#include "foundation/report/report.h"
#include "resolver/request/options.h"
#include "resolver/request/requests.h"
#include "session/command_failure.h"
#include "session/settings/settings.h"
#include "wheel/marker.h"

namespace axle::session {

/// Gives them names, and leaves out those whose marker does not hold. Nothing is built that lacks a
/// hash which is required, nor where the options forbid it. Errors: those of SourceBuilder, with
/// the origin of the requirement; conflict (it may not be built).
[[nodiscard]] Outcome<void> name_sources(resolver::Requests& requests,
                                         const resolver::Options& options,
                                         const wheel::MarkerEnvironment& markers, Report& report);
/// Adds the folders that are requested with -e to those of `builds`, as far as the settings let
/// them be editable.
void allow_editables(const resolver::Requests& requests, const Settings& settings,
                     resolver::BuildConsent& builds);

}  // namespace axle::session
