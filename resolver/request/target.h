#pragma once
// Where the wheels shall run: a machine and an interpreter.

#include "detect/machine.h"
#include "wheel/marker.h"
#include "wheel/tag.h"
#include "wheel/version.h"

namespace axle::resolver {

struct Target {
  const detect::Machine* machine = nullptr;  ///< never null
  wheel::SupportedTags tags{{}};
  wheel::MarkerEnvironment markers;  ///< of the interpreter
  wheel::Version python_version;     ///< python_full_version
};

}  // namespace axle::resolver
