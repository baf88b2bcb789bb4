#pragma once
// Checks that the code in a wheel matches the properties of its variant, with the checks that
// `variant doctor` uses for installed packages: whatever doctor would find on a machine that has
// exactly the declared properties is an error here.

#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/wheel_writer.h"

namespace axle::builder {

struct CodeDeclaration {
  std::string wheel;                              ///< its name in errors: "variant v3"
  wheel::VariantProperties properties;            ///< none: the baseline of the architecture
  std::vector<std::string> allowed_instructions;  ///< capabilities that are allowed in addition
};

/// Reads every ELF file among `members`. `work_folder` is for temporary files. Error: mismatch,
/// with the file, the function or section, what was found and what is declared: another CPU
/// architecture, a level that the loader would require, instructions in a library that never checks
/// the CPU, code for GPUs without any for a declared one. What cannot be read (no objdump, unknown
/// sections) is a warning.
[[nodiscard]] Result<void> check_code(const std::vector<wheel::WheelMember>& members,
                                      const CodeDeclaration& declared,
                                      const std::string& work_folder, Report& report);

}  // namespace axle::builder
