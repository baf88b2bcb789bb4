#include "builder/instruction_scan.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>
#include <unordered_map>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace axle::builder {
namespace {

using detect::Capability;
using detect::OsState;
using Clock = std::chrono::steady_clock;

constexpr std::size_t none = detect::capability_count;
constexpr std::size_t longest_line = 4096;

/// The row of each encoding that a mnemonic has.
struct Betrayal {
  std::size_t legacy = none;  ///< or VEX
  std::size_t evex = none;
};

using Betrayals = std::unordered_map<std::string_view, Betrayal>;

Betrayals read_table() {
  Betrayals found;
  for (const detect::CapabilityRow& row : detect::capabilities()) {
    if (row.arch != detect::Arch::x86_64) continue;
    std::string_view rest = row.mnemonics;
    while (!rest.empty()) {
      const std::size_t space = std::min(rest.find(' '), rest.size());
      Betrayal& betrayal = found[rest.substr(0, space)];
      std::size_t& place = row.os_state == OsState::zmm ? betrayal.evex : betrayal.legacy;
      if (place == none) place = static_cast<std::size_t>(row.id);
      rest.remove_prefix(std::min(rest.size(), space + 1));
    }
  }
  found.erase("");
  return found;
}

bool has_high_register(std::string_view operands) {
  for (const std::string_view kind : {"%xmm", "%ymm"}) {
    for (std::size_t at = operands.find(kind); at != std::string_view::npos;
         at = operands.find(kind, at + 1)) {
      const std::string_view number = operands.substr(at + kind.size(), 2);
      if (number.size() == 2 && number[1] >= '0' && number[1] <= '9' && number >= "16") return true;
    }
  }
  return false;
}

bool is_evex(std::string_view operands) {
  return operands.contains("%zmm") || operands.contains("{%k") || operands.contains("{1to") ||
         has_high_register(operands);
}

/// objdump with its answer in a pipe; ended when the object goes.
class Disassembler {
 public:
  Disassembler() = default;
  Disassembler(const Disassembler&) = delete;
  Disassembler& operator=(const Disassembler&) = delete;
  ~Disassembler() {
    if (output_ >= 0) ::close(output_);
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    (void)wait();
  }

  Result<void> start(const std::string& path) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      return fail(ErrorKind::io, fmt::format("pipe: {}", strerror(errno)));
    output_ = ends[0];
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::array<std::string, 5> words = {"objdump", "-d", "--no-show-raw-insn", "--no-addresses",
                                        path};
    std::array<char*, 6> arguments = {words[0].data(), words[1].data(), words[2].data(),
                                      words[3].data(), words[4].data(), nullptr};
    const int error =
        posix_spawnp(&child_, "objdump", &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (error == 0) return {};
    child_ = 0;
    if (error == ENOENT)
      return fail(ErrorKind::not_found, "objdump is not installed", "install binutils");
    return fail(ErrorKind::io, fmt::format("objdump cannot be started: {}", strerror(error)));
  }

  /// -1: not in time; 0: the end.
  ssize_t read(std::span<char> buffer, Clock::time_point deadline) const {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{output_, POLLIN, 0};
    if (left <= 0 || ::poll(&ready, 1, static_cast<int>(left)) <= 0) return -1;
    return ::read(output_, buffer.data(), buffer.size());
  }

  /// The exit status.
  int wait() {
    int status = 0;
    while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
    }
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t child_ = 0;
  int output_ = -1;
};

void count_lines(std::string& text, InstructionScan& scan) {
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with('\t') && !line.starts_with(' ')) continue;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::size_t capability = capability_of_instruction(line);
    if (capability != none) ++scan.counts[static_cast<Capability>(capability)];
  }
  text.erase(0, begin);
  if (text.size() > longest_line) text.clear();
}

}  // namespace

std::size_t capability_of_instruction(std::string_view instruction) {
  static const Betrayals betrayals = read_table();
  const std::size_t space = std::min(instruction.find_first_of(" \t"), instruction.size());
  const std::string_view operands = instruction.substr(space);
  const auto found = betrayals.find(instruction.substr(0, space));
  const bool evex = is_evex(operands);
  if (found != betrayals.end()) {
    const auto [legacy, own_evex] = found->second;
    if (evex && own_evex != none) return own_evex;
    if (!evex) return legacy != none ? legacy : own_evex;  // mask registers alone are no sign
  }
  if (operands.contains("%tmm")) return static_cast<std::size_t>(Capability::amx_tile);
  if (operands.contains("%zmm")) return static_cast<std::size_t>(Capability::avx512f);
  if (evex) return static_cast<std::size_t>(Capability::avx512vl);
  if (operands.contains("%ymm")) return static_cast<std::size_t>(Capability::avx);
  return none;
}

Result<InstructionScan> scan_instructions(const std::string& path,
                                          const InstructionLimits& limits) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return fail(ErrorKind::io, fmt::format("{}: {}", path, error.message()));
  if (size > limits.largest_file) {
    return fail(ErrorKind::unsupported,
                fmt::format("{} has {} MiB, more than are disassembled", path, size >> 20U));
  }
  Disassembler objdump;
  if (auto started = objdump.start(path); !started)
    return std::unexpected(std::move(started).error());
  const Clock::time_point deadline = Clock::now() + limits.time;
  InstructionScan scan;
  std::string text;
  std::array<char, 1U << 16> buffer;
  while (true) {
    const ssize_t got = objdump.read(buffer, deadline);
    if (got < 0) return scan;
    if (got == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    count_lines(text, scan);
  }
  if (objdump.wait() != 0)
    return fail(ErrorKind::unsupported, fmt::format("{}: objdump does not read it", path));
  scan.complete = true;
  return scan;
}

}  // namespace axle::builder
