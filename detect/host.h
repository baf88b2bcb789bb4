#pragma once
// The only interface between detection and the system: everything that a probe reads comes through
// Host. make_real_host() is this machine; tests answer with recorded values.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "detect/machine.h"

namespace axle::detect {

/// The four registers of one CPUID call.
struct CpuidLeaf {
  std::uint32_t eax = 0;
  std::uint32_t ebx = 0;
  std::uint32_t ecx = 0;
  std::uint32_t edx = 0;
  friend bool operator==(const CpuidLeaf&, const CpuidLeaf&) = default;
};

/// arch_prctl queries of the x86 kernel's extended state permissions. Only the queries: the request
/// (0x1023) is irreversible for the process and is never made here (Linux
/// Documentation/arch/x86/xstate.rst).
enum class XcompQuery : std::uint32_t { supported = 0x1021, permitted = 0x1022 };

enum class Access : std::uint8_t { exists, read, read_write };

struct SystemName {
  std::string system;   ///< "Linux"
  std::string release;  ///< "6.1.0-18-amd64"
  std::string machine;  ///< "x86_64"
  friend bool operator==(const SystemName&, const SystemName&) = default;
};

/// The answer of a vendor's driver libraries, queried in their own child process.
struct DriverAnswer {
  /// `not_recorded`: the recording does not contain this vendor's answer.
  enum class End : std::uint8_t { finished, crashed, timed_out, not_started, not_recorded };
  End end = End::not_started;
  int signal = 0;  ///< the signal that ended the child if `crashed`; 0: it exited without finishing
  std::string lines;  ///< detect/drivers/driver_lines.h; lines before a crash or time-out are kept
  friend bool operator==(const DriverAnswer&, const DriverAnswer&) = default;
};

/// The output of a program.
struct ProgramAnswer {
  std::string text;  ///< stdout and stderr; truncated at 256 KiB; empty if it could not be started
  bool finished = true;  ///< false: it was stopped at the time limit, and `text` may be incomplete
};

class Host {
 public:
  virtual ~Host() = default;

  /// The subject of the queries that follow: "cpu", "os", "pci" or the word of a vendor or of a
  /// kind ("nvidia", "npu"). Only used by hosts that record queries.
  virtual void turn_to(std::string_view /*topic*/) {}

  [[nodiscard]] virtual Arch arch() = 0;

  /// CPUID on the current CPU; nullopt if the instruction does not exist. Out-of-range leaves
  /// return arbitrary data: callers check the bounds.
  [[nodiscard]] virtual std::optional<CpuidLeaf> cpuid(std::uint32_t leaf,
                                                       std::uint32_t subleaf) = 0;
  /// XGETBV(0). Only call it if CPUID reports OSXSAVE.
  [[nodiscard]] virtual std::uint64_t xcr0() = 0;
  /// The kernel's mask; nullopt if the call is denied (seccomp) or unknown (before Linux 5.16).
  [[nodiscard]] virtual std::optional<std::uint64_t> xcomp(XcompQuery query) = 0;
  /// Runs `work` on that CPU. False, without running `work`, if the thread may not run there.
  virtual bool on_cpu(unsigned cpu, const std::function<void()>& work) = 0;

  /// getauxval; nullopt if the kernel has no such entry.
  [[nodiscard]] virtual std::optional<std::uint64_t> auxiliary(unsigned long type) = 0;
  /// prctl(PR_SVE_GET_VL) in bytes.
  [[nodiscard]] virtual std::optional<unsigned> sve_vector_bytes() = 0;
  /// prctl(PR_SME_GET_VL) in bytes.
  [[nodiscard]] virtual std::optional<unsigned> sme_vector_bytes() = 0;
  /// The value of one key of riscv_hwprobe(2) over all CPUs; nullopt if the kernel does not have
  /// the call or the key.
  [[nodiscard]] virtual std::optional<std::uint64_t> riscv_hwprobe(std::int64_t key) = 0;
  /// The vtype register after vsetvli for 8-bit elements, tail and mask agnostic (RISC-V V 1.0, 6):
  /// its top bit is set if these vectors do not support that. Only call it if the kernel reports
  /// the letter V: otherwise the instruction traps. nullopt if this process may not use vectors.
  [[nodiscard]] virtual std::optional<std::uint64_t> riscv_vtype() = 0;
  /// macOS: the value as `sysctl -n` prints it; nullopt if there is no such name, as on Linux.
  [[nodiscard]] virtual std::optional<std::string> sysctl(const std::string& name) = 0;

  [[nodiscard]] virtual SystemName system_name() = 0;
  [[nodiscard]] virtual unsigned online_cpus() = 0;  ///< 0 unknown
  /// confstr(_CS_GNU_LIBC_VERSION), "glibc 2.36"; empty with another C library.
  [[nodiscard]] virtual std::string glibc_version() = 0;
  /// Runs `command`, an absolute path and arguments, separated by single spaces.
  [[nodiscard]] virtual ProgramAnswer run_program(const std::string& command,
                                                  std::chrono::milliseconds time_limit) = 0;

  /// At most `limit` bytes of the file; nullopt if it cannot be read.
  [[nodiscard]] virtual std::optional<std::string> read_file(const std::string& path,
                                                             std::size_t limit) = 0;
  [[nodiscard]] std::optional<std::string> read_file(const std::string& path) {
    return read_file(path, 64 * 1024);
  }
  /// Names in the folder, sorted; empty if it cannot be listed.
  [[nodiscard]] virtual std::vector<std::string> list_folder(const std::string& path) = 0;
  [[nodiscard]] virtual std::optional<std::string> read_link(const std::string& path) = 0;
  /// Size, times and inode of the file `path`, links resolved, as one word that changes when the
  /// file does. nullopt if there is none.
  [[nodiscard]] virtual std::optional<std::string> file_stamp(const std::string& path) = 0;
  [[nodiscard]] virtual bool accessible(const std::string& path, Access access) = 0;
  [[nodiscard]] virtual std::optional<std::string> environment(const std::string& name) = 0;

  /// Queries each vendor's libraries in their own child process, all at once; one answer per
  /// vendor, in order. Returns at most a moment after `time_limit`, whatever the libraries do.
  [[nodiscard]] virtual std::vector<DriverAnswer> ask_drivers(
      std::span<const GpuVendor> vendors, std::chrono::milliseconds time_limit) = 0;
};

/// The machine that runs this program.
[[nodiscard]] std::unique_ptr<Host> make_real_host();

}  // namespace axle::detect
