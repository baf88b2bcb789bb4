#pragma once
// Where the wheels shall run: a machine and an interpreter.

#include <string>
#include <vector>

#include "detect/machine.h"
#include "wheel/marker.h"
#include "wheel/tag.h"
#include "wheel/version.h"

namespace axle::resolver {

struct Target {
  const detect::Machine* machine = nullptr;              ///< never null
  wheel::SupportedTags tags{std::vector<wheel::Tag>()};  ///< none
  wheel::MarkerEnvironment markers;                      ///< of the interpreter
  wheel::Version python_version;                         ///< python_full_version
  bool assumed_release = false;  ///< which patch release it is nobody knows: for a class of a lock
  /// Where they come from, as the source of a Fact: "stated" by the user.
  std::string interpreter_source = "interpreter";
  std::string platform_source = "interpreter";
};

}  // namespace axle::resolver
