#pragma once
// What wheels are chosen for: an interpreter and a machine, here, elsewhere or stated.

#include <optional>
#include <string>

#include "detect/machine.h"
#include "installer/environment/environment.h"
#include "resolver/request/target.h"
#include "session/target/stated_interpreter.h"
#include "session/target/stated_platform.h"
#include "wheel/tag.h"

namespace axle::session {

/// What the options say of the target beside the machine.
struct StatedTarget {
  StatedInterpreter interpreter = {};
  std::optional<StatedPlatform> platform = {};

  /// Whether it may be another interpreter than the environment's.
  [[nodiscard]] bool is_stated() const { return interpreter.is_stated() || platform; }
};

[[nodiscard]] Outcome<StatedTarget> read_stated_target(const Arguments& arguments);

/// The first of its options that is given, with its value.
[[nodiscard]] std::string stated_by(const Arguments& arguments);

/// The markers that another machine than this one determines instead of the interpreter.
void put_elsewhere(wheel::MarkerEnvironment& markers, const detect::Machine& machine);

/// The tags of an interpreter such as that with `tags`, on `machine` instead of this one.
[[nodiscard]] wheel::TagTarget tags_elsewhere(wheel::TagTarget tags,
                                              const detect::Machine& machine);

/// The interpreter's tags and markers; operating system, architecture and libc of `machine` if it
/// is not this one; and what is stated. `machine` must outlive the target.
[[nodiscard]] resolver::Target make_target(const installer::Environment& environment,
                                           const StatedTarget& stated,
                                           const detect::Machine& machine, bool elsewhere);

}  // namespace axle::session
