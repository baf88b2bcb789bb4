#pragma once
// Whether the code in a wheel is what the wheel's variant declares, by the judgement with which
// `variant doctor` looks at what is installed: what doctor would find on a machine that has the
// declared properties and nothing else is an error here.

#include <string>
#include <vector>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/wheel_writer.h"

namespace axle::builder {

struct CodeDeclaration {
  std::string wheel;                              ///< how errors call it: "variant v3"
  wheel::VariantProperties properties;            ///< none: the baseline of the architecture
  std::vector<std::string> allowed_instructions;  ///< capabilities that may be there all the same
};

/// Reads every ELF file among `members`. `work_folder` is for files that go again. Error: mismatch,
/// with the file, the function or section, what is there and what is declared: another CPU
/// architecture, a level that the loader would ask for, instructions in a library that nowhere asks
/// which CPU it is, code for GPUs among which a declared one has none. What cannot be read (no
/// objdump, unknown sections) is a warning.
[[nodiscard]] Result<void> check_code(const std::vector<wheel::WheelMember>& members,
                                      const CodeDeclaration& declared,
                                      const std::string& work_folder, Report& report);

}  // namespace axle::builder
