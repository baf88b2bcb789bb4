#pragma once
// Which instructions beyond the baseline a finished library contains, by decoding all of its code:
// nothing is started, and a gigabyte takes seconds. As of instruction_scan.h the result is only
// "contains".

#include <cstdint>
#include <string_view>

#include "binaries/instruction_scan.h"
#include "detect/capability.h"
#include "foundation/report/error.h"

namespace axle::binaries {

/// `file`: the whole library. Data between instructions is recognised by what it would be as code:
/// what is found within 64 instructions of an encoding that no CPU has does not count. The first
/// place of each capability is only told for a library that never checks the CPU. Errors: as
/// elf_error, and unsupported for another architecture than x86-64 and aarch64.
[[nodiscard]] Result<InstructionScan> scan_code(std::string_view file, std::string_view where,
                                                unsigned threads = 1);

}  // namespace axle::binaries
