#pragma once
// Which extras of a wheel bring the device code for the GPUs of a machine
// (index/family/device_extras.h).

#include <optional>
#include <string>
#include <vector>

#include "foundation/report/report.h"
#include "resolver/choice/package_choice.h"
#include "resolver/request/options.h"
#include "resolver/request/target.h"

namespace axle::resolver {

/// The extras of `choice` for the GPUs here, each once, in the order of the GPUs. Empty: there are
/// none, or the wheel has no such extras.
[[nodiscard]] std::vector<std::string> device_extras(const PackageChoice& choice,
                                                     const Target& target, const Options& options);
/// One of `extras` is a device's: whoever names one has chosen.
[[nodiscard]] bool names_device(const std::string& project, const std::vector<std::string>& extras);
/// What is worth saying of a chosen wheel that has its device code in extras: which of them was
/// taken (`extras`), and for which GPU there is none. nullopt: nothing.
[[nodiscard]] std::optional<Remark> device_remark(const PackageChoice& choice,
                                                  const std::vector<std::string>& extras,
                                                  const Target& target, const Options& options);

}  // namespace axle::resolver
