#pragma once
// A machine in memory: a Host that answers from values. Tests describe the machine by assigning the
// members; everything that is not described is absent.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "detect/host.h"

namespace axle::testing {

using CpuidLeaves = std::map<std::pair<std::uint32_t, std::uint32_t>, detect::CpuidLeaf>;

class RecordedHost : public detect::Host {
 public:
  detect::Arch architecture = detect::Arch::x86_64;
  CpuidLeaves leaves;
  /// Leaves of single CPUs (hybrid machines), in the place of `leaves` while on_cpu runs there.
  std::map<unsigned, CpuidLeaves> leaves_of_cpu;
  std::uint64_t xcr0_value = 0;
  std::optional<std::uint64_t> xcomp_supported;
  std::optional<std::uint64_t> xcomp_permitted;
  std::map<unsigned long, std::uint64_t> auxiliary_values;
  std::optional<unsigned> sve_bytes;
  std::optional<unsigned> sme_bytes;
  std::map<std::int64_t, std::uint64_t> hwprobe;
  detect::SystemName name{"Linux", "6.1.0", "x86_64"};
  unsigned cpus = 8;
  std::string glibc = "glibc 2.36";
  std::map<std::string, std::string> programs;  ///< path -> output
  std::map<std::string, std::string> files;     ///< path -> content; folders follow from the paths
  std::map<std::string, std::string> links;     ///< path -> target
  std::set<std::string> refused;                ///< exist, but may not be opened
  std::map<std::string, std::string> variables;
  std::map<detect::GpuVendor, detect::DriverAnswer> answers;
  /// The vendors that were asked, in order: what a test of "no child is started" looks at.
  std::vector<detect::GpuVendor> asked;
  /// Leaves that were read, so that a test can see the bounds kept.
  std::set<std::pair<std::uint32_t, std::uint32_t>> leaves_read;

  /// Sets the bit of a capability and raises the bounds of CPUID so that it is in range.
  void give(detect::Capability capability);
  /// psABI levels 1 to `level`.
  void give_level(unsigned level);
  void take(detect::Capability capability);

  /// A display device on the bus, at `address` ("0000:65:00.0"), bound to `driver` unless empty.
  void plug(const std::string& address, std::uint32_t vendor, std::uint32_t device,
            const std::string& driver);
  /// A device node that can be opened.
  void add_node(const std::string& path) { files[path] = ""; }
  /// What the vendor's child says before it finishes.
  void say(detect::GpuVendor vendor, const std::string& lines);
  void say(detect::GpuVendor vendor, detect::DriverAnswer::End end, const std::string& lines,
           int signal = 0);

  detect::Arch arch() override { return architecture; }
  std::optional<detect::CpuidLeaf> cpuid(std::uint32_t leaf, std::uint32_t subleaf) override;
  std::uint64_t xcr0() override { return xcr0_value; }
  std::optional<std::uint64_t> xcomp(detect::XcompQuery query) override;
  bool on_cpu(unsigned cpu, const std::function<void()>& work) override;
  std::optional<std::uint64_t> auxiliary(unsigned long type) override;
  std::optional<unsigned> sve_vector_bytes() override { return sve_bytes; }
  std::optional<unsigned> sme_vector_bytes() override { return sme_bytes; }
  std::optional<std::uint64_t> riscv_hwprobe(std::int64_t key) override;
  detect::SystemName system_name() override { return name; }
  unsigned online_cpus() override { return cpus; }
  std::string glibc_version() override { return glibc; }
  std::string program_output(const std::string& program) override;
  using Host::read_file;
  std::optional<std::string> read_file(const std::string& path, std::size_t limit) override;
  std::vector<std::string> list_folder(const std::string& path) override;
  std::optional<std::string> read_link(const std::string& path) override;
  std::optional<std::string> file_stamp(const std::string& path) override;
  bool accessible(const std::string& path, detect::Access access) override;
  std::optional<std::string> environment(const std::string& variable) override;
  std::vector<detect::DriverAnswer> ask_drivers(std::span<const detect::GpuVendor> vendors,
                                                std::chrono::milliseconds time_limit) override;

 private:
  const CpuidLeaves* current_ = nullptr;
};

}  // namespace axle::testing
