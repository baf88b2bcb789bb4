#pragma once
// Which instructions beyond the baseline a finished x86-64 library contains, by the mnemonics of
// the capability table, as binutils' objdump reads them. "Contains" is all that can be said: code
// behind a dispatcher that asks CPUID first is no requirement, and nothing in the file tells it
// apart.

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "detect/capability.h"
#include "report/error.h"

namespace axle::builder {

struct InstructionScan {
  std::map<detect::Capability, std::uint64_t> counts;  ///< instructions that betray it
  bool complete = false;                               ///< the whole file was read in the time
};

struct InstructionLimits {
  std::chrono::seconds time{60};
  /// Bytes; of a large file objdump reads the code alone, so that the time is what counts.
  std::uint64_t largest_file = 4ULL << 30;
};

/// Errors: not_found (no objdump), unsupported (the file is too large, or objdump does not know
/// it), io.
[[nodiscard]] Result<InstructionScan> scan_instructions(const std::string& path,
                                                        const InstructionLimits& limits = {});

/// The capability behind one line of `objdump -d` without addresses, "vpdpbusd %zmm1,%zmm2,%zmm3";
/// capability_count when it is baseline or not known. A mnemonic of two capabilities is told apart
/// by its operands: EVEX (avx512*) has zmm, mask or high registers.
[[nodiscard]] std::size_t capability_of_instruction(std::string_view instruction);

}  // namespace axle::builder
