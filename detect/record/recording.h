#pragma once
// A Host's answers as values: a RecordingHost records them, a ReplayHost answers with them. A
// profile (machines/) is a Recording in a file, so that later, improved detection can be applied to
// an old machine.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "detect/host.h"
#include "detect/record/forwarding_host.h"

namespace axle::detect {

/// By leaf and sub-leaf.
using CpuidAnswers = std::map<std::pair<std::uint32_t, std::uint32_t>, CpuidLeaf>;

/// The answers of one machine. What is not included is absent there.
struct Recording {
  Arch architecture = Arch::other;
  CpuidAnswers leaves;
  /// Leaves as answered by single CPUs (hybrid machines), used instead of `leaves` while on_cpu
  /// runs there.
  std::map<unsigned, CpuidAnswers> leaves_of_cpu;
  std::uint64_t xcr0_value = 0;
  std::optional<std::uint64_t> xcomp_supported;
  std::optional<std::uint64_t> xcomp_permitted;
  std::map<unsigned long, std::uint64_t> auxiliary_values;  ///< by getauxval's type
  std::optional<unsigned> sve_bytes;
  std::optional<unsigned> sme_bytes;
  std::map<std::int64_t, std::uint64_t> hwprobe;  ///< riscv_hwprobe(2), by key
  std::optional<std::uint64_t> vtype;             ///< Host::riscv_vtype
  std::map<std::string, std::string> sysctls;     ///< macOS: name -> value
  SystemName name;
  unsigned cpus = 0;
  std::string glibc;
  std::map<std::string, std::string> programs;  ///< command -> output
  std::set<std::string> stopped;                ///< those of `programs` that did not finish in time
  std::map<std::string, std::string> files;     ///< path -> content
  std::map<std::string, std::string> links;     ///< path -> target
  /// Names in folders that cannot be derived from the other paths.
  std::map<std::string, std::vector<std::string>> folders;
  /// Paths that exist, and their permissions: device nodes, libraries. `exists`: neither read nor
  /// written.
  std::map<std::string, Access> nodes;
  std::map<std::string, std::string> stamps;     ///< path -> file_stamp
  std::map<std::string, std::string> variables;  ///< environment variables that were read
  std::map<GpuVendor, DriverAnswer> answers;
  friend bool operator==(const Recording&, const Recording&) = default;
};

/// Answers from a recording; anything it does not contain is absent. Does not access the local
/// machine.
class ReplayHost : public Host {
 public:
  /// `recording` must outlive this.
  explicit ReplayHost(const Recording& recording) : recording_(recording) {}

  Arch arch() override { return recording_.architecture; }
  std::optional<CpuidLeaf> cpuid(std::uint32_t leaf, std::uint32_t subleaf) override;
  std::uint64_t xcr0() override { return recording_.xcr0_value; }
  std::optional<std::uint64_t> xcomp(XcompQuery query) override;
  bool on_cpu(unsigned cpu, const std::function<void()>& work) override;
  std::optional<std::uint64_t> auxiliary(unsigned long type) override;
  std::optional<unsigned> sve_vector_bytes() override { return recording_.sve_bytes; }
  std::optional<unsigned> sme_vector_bytes() override { return recording_.sme_bytes; }
  std::optional<std::uint64_t> riscv_hwprobe(std::int64_t key) override;
  std::optional<std::uint64_t> riscv_vtype() override { return recording_.vtype; }
  std::optional<std::string> sysctl(const std::string& name) override;
  SystemName system_name() override { return recording_.name; }
  unsigned online_cpus() override { return recording_.cpus; }
  std::string glibc_version() override { return recording_.glibc; }
  ProgramAnswer run_program(const std::string& command,
                            std::chrono::milliseconds time_limit) override;
  using Host::read_file;
  std::optional<std::string> read_file(const std::string& path, std::size_t limit) override;
  std::vector<std::string> list_folder(const std::string& path) override;
  std::optional<std::string> read_link(const std::string& path) override;
  std::optional<std::string> file_stamp(const std::string& path) override;
  bool accessible(const std::string& path, Access access) override;
  std::optional<std::string> environment(const std::string& variable) override;
  std::vector<DriverAnswer> ask_drivers(std::span<const GpuVendor> vendors,
                                        std::chrono::milliseconds time_limit) override;

 private:
  const Recording& recording_;
  const CpuidAnswers* current_ = nullptr;
};

/// One query of detection, for display.
struct Question {
  enum class Kind : std::uint8_t {
    cpuid,      ///< subject "7:0"
    processor,  ///< "XCR0", "brand", "SVE vector length", …
    auxiliary,  ///< "AT_HWCAP"
    system,     ///< "uname", "glibc", "online CPUs"
    program,
    file,
    folder,
    link,
    stamp,
    access,  ///< subject a path
    variable,
    library  ///< subject a vendor: the answer of its libraries, one line per entry
  };
  std::string topic;  ///< Host::turn_to's, "" before the first
  Kind kind = Kind::file;
  std::string subject;
  std::optional<std::string> answer;  ///< nullopt: there is none
  friend bool operator==(const Question&, const Question&) = default;
};

/// Forwards queries and records them with their answers.
class RecordingHost : public ForwardingHost {
 public:
  /// `next` must outlive this.
  explicit RecordingHost(Host& next) : ForwardingHost(next) {}

  /// All answers so far, raw: call scrub() before they leave the machine.
  [[nodiscard]] const Recording& recording() const { return recording_; }
  /// The questions in their order.
  [[nodiscard]] const std::vector<Question>& questions() const { return questions_; }

  void turn_to(std::string_view topic) override;
  Arch arch() override;
  std::optional<CpuidLeaf> cpuid(std::uint32_t leaf, std::uint32_t subleaf) override;
  std::uint64_t xcr0() override;
  std::optional<std::uint64_t> xcomp(XcompQuery query) override;
  bool on_cpu(unsigned cpu, const std::function<void()>& work) override;
  std::optional<std::uint64_t> auxiliary(unsigned long type) override;
  std::optional<unsigned> sve_vector_bytes() override;
  std::optional<unsigned> sme_vector_bytes() override;
  std::optional<std::uint64_t> riscv_hwprobe(std::int64_t key) override;
  std::optional<std::uint64_t> riscv_vtype() override;
  std::optional<std::string> sysctl(const std::string& name) override;
  SystemName system_name() override;
  unsigned online_cpus() override;
  std::string glibc_version() override;
  ProgramAnswer run_program(const std::string& command,
                            std::chrono::milliseconds time_limit) override;
  using Host::read_file;
  std::optional<std::string> read_file(const std::string& path, std::size_t limit) override;
  std::vector<std::string> list_folder(const std::string& path) override;
  std::optional<std::string> read_link(const std::string& path) override;
  std::optional<std::string> file_stamp(const std::string& path) override;
  bool accessible(const std::string& path, Access access) override;
  std::optional<std::string> environment(const std::string& variable) override;
  std::vector<DriverAnswer> ask_drivers(std::span<const GpuVendor> vendors,
                                        std::chrono::milliseconds time_limit) override;

 private:
  void note(Question::Kind kind, std::string subject, std::optional<std::string> answer);

  Recording recording_;
  std::vector<Question> questions_;
  std::string topic_;
  std::optional<unsigned> current_cpu_;
};

}  // namespace axle::detect
