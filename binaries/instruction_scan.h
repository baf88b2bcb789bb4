#pragma once
// Which instructions beyond the baseline a finished library contains, by the mnemonics of the
// capability table, as binutils' objdump reads them. The result is only "contains": code behind a
// dispatcher that checks the CPU first is not a requirement. Whether a library has such a check
// anywhere is determined too.

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "detect/capability.h"
#include "foundation/report/error.h"

namespace axle::binaries {

struct InstructionPlace {
  std::string section;      ///< ".text"
  std::string function;     ///< the symbol's name; in a stripped file the nearest one
  std::string instruction;  ///< the mnemonic

  [[nodiscard]] std::string render() const;  ///< "function f of .text"
};

struct InstructionScan {
  std::map<detect::Capability, std::uint64_t> counts;    ///< instructions that reveal it
  std::map<detect::Capability, InstructionPlace> first;  ///< the first one of each
  bool asks_cpu = false;  ///< it has an instruction or a call that checks the CPU
  bool complete = false;  ///< the whole file was read within the time limit
};

struct InstructionLimits {
  std::chrono::seconds time{60};
  /// Bytes; of a large file objdump reads only the code, so the time is the relevant limit.
  std::uint64_t largest_file = 4ULL << 30;
};

/// `arch`: x86_64 or aarch64, the library's. Errors: not_found (no objdump for it), unsupported
/// (the file is too large, or objdump does not support it), io.
[[nodiscard]] Result<InstructionScan> scan_instructions(const std::string& path, detect::Arch arch,
                                                        const InstructionLimits& limits = {});

/// Whether a library's path shows for which CPU it is, so that the package loads the one that fits:
/// "libx_avx512.so", "glibc-hwcaps/x86-64-v3/libx.so".
[[nodiscard]] bool is_chosen_by_cpu(std::string_view path);

}  // namespace axle::binaries
