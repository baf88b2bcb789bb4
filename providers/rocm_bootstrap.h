#pragma once
// What AMD's rocm-bootstrap 0.3.0 would say of a machine: it has a plugin for namespace `amd`, too,
// with the one feature `gfx_arch`, and packages of AMD are chosen by it. It reads the kernel's
// topology alone: it lists every GPU there, integrated ones beside cards, knows no variables of
// ROCm, and fails as a whole where it does not know the target of one.

#include <string>
#include <vector>

#include "detect/machine.h"

namespace axle::providers {

struct BootstrapAnswer {
  std::vector<std::string> targets;  ///< in the order of the GPUs, each once
  std::string unknown;               ///< the target that it fails for; empty: none
};

/// Of the GPUs that work and that no mask hides: what is said of others is said elsewhere.
[[nodiscard]] BootstrapAnswer rocm_bootstrap_answer(const detect::Machine& machine);

}  // namespace axle::providers
