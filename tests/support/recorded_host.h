#pragma once
// A machine in memory that tests describe: a recording, a host that answers from it, and words to
// fill it with. Everything that is not described is absent.

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "detect/record/recording.h"

namespace axle::testing {

using CpuidLeaves = detect::CpuidAnswers;

class RecordedHost : public detect::Recording, public detect::ReplayHost {
 public:
  /// A quiet x86-64 Linux with 8 CPUs and glibc 2.36.
  RecordedHost();
  RecordedHost(const RecordedHost& other);
  RecordedHost& operator=(const RecordedHost& other);

  std::set<std::string> refused;  ///< exist, but may not be opened
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

  std::optional<detect::CpuidLeaf> cpuid(std::uint32_t leaf, std::uint32_t subleaf) override;
  using Host::read_file;
  std::optional<std::string> read_file(const std::string& path, std::size_t limit) override;
  std::optional<std::string> file_stamp(const std::string& path) override;
  bool accessible(const std::string& path, detect::Access access) override;
  std::vector<detect::DriverAnswer> ask_drivers(std::span<const detect::GpuVendor> vendors,
                                                std::chrono::milliseconds time_limit) override;
};

}  // namespace axle::testing
