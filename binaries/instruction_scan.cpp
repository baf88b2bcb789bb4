#include "binaries/instruction_scan.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <span>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "binaries/instruction_classes.h"
#include "detect/machine.h"

namespace axle::binaries {
namespace {

using detect::Capability;
using Clock = std::chrono::steady_clock;

constexpr std::size_t longest_line = 4096;

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

  Result<void> start(const std::string& program, const std::string& path) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      return fail(ErrorKind::io, fmt::format("pipe: {}", strerror(errno)));
    output_ = ends[0];
    posix_spawn_file_actions_t actions{};
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    std::array<std::string, 5> words = {program, "-d", "--no-show-raw-insn", "--no-addresses",
                                        path};
    std::array<char*, 6> arguments = {words[0].data(), words[1].data(), words[2].data(),
                                      words[3].data(), words[4].data(), nullptr};
    const int error =
        posix_spawnp(&child_, program.c_str(), &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    if (error == 0) return {};
    child_ = 0;
    if (error == ENOENT)
      return fail(ErrorKind::not_found, fmt::format("{} is not installed", program),
                  "install binutils");
    return fail(ErrorKind::io, fmt::format("{} cannot be started: {}", program, strerror(error)));
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

/// Where in its listing objdump is.
struct Listing {
  std::string section;
  std::string function;
};

/// "Disassembly of section .text:", "<function>:".
void take_heading(std::string_view line, Listing& at) {
  constexpr std::string_view section = "Disassembly of section ";
  const std::size_t open = line.find('<');
  if (line.starts_with(section)) {
    at.section = line.substr(section.size());
    if (at.section.ends_with(':')) at.section.pop_back();
  } else if (line.ends_with(">:") && open != std::string_view::npos) {
    at.function = line.substr(open + 1, line.size() - open - 3);
  }
}

void count_lines(std::string& text, detect::Arch arch, Listing& at, InstructionScan& scan) {
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with('\t') && !line.starts_with(' ')) {
      take_heading(line, at);
      continue;
    }
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const std::size_t number = capability_of_instruction(line, arch);
    scan.asks_cpu = scan.asks_cpu || asks_for_cpu(line, arch);
    if (number == detect::capability_count) continue;
    const auto capability = static_cast<Capability>(number);
    if (++scan.counts[capability] > 1) continue;
    scan.first[capability] = {at.section, at.function,
                              std::string(line.substr(0, line.find_first_of(" \t")))};
  }
  text.erase(0, begin);
  if (text.size() > longest_line) text.clear();
}

/// Debian's objdump reads what the machine itself runs; others have a program of their own.
std::string objdump_for(detect::Arch arch) {
  utsname own{};
  const bool native = ::uname(&own) == 0 && detect::render_arch(arch) == own.machine;
  return native ? "objdump" : fmt::format("{}-linux-gnu-objdump", detect::render_arch(arch));
}

}  // namespace

std::string InstructionPlace::render() const {
  constexpr std::size_t longest = 200;  // C++ has names of kilobytes
  if (function.empty()) return section;
  return fmt::format("function {} of {}", function.substr(0, longest), section);
}

Result<InstructionScan> scan_instructions(const std::string& path, detect::Arch arch,
                                          const InstructionLimits& limits) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (error) return fail(ErrorKind::io, fmt::format("{}: {}", path, error.message()));
  if (size > limits.largest_file) {
    return fail(ErrorKind::unsupported,
                fmt::format("{} has {} MiB, more than are disassembled", path, size >> 20U));
  }
  Disassembler objdump;
  if (auto started = objdump.start(objdump_for(arch), path); !started)
    return std::unexpected(std::move(started).error());
  const Clock::time_point deadline = Clock::now() + limits.time;
  InstructionScan scan;
  Listing at;
  std::string text;
  std::array<char, 1U << 16> buffer;
  while (true) {
    const ssize_t got = objdump.read(buffer, deadline);
    if (got < 0) return scan;
    if (got == 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    count_lines(text, arch, at, scan);
  }
  if (objdump.wait() != 0)
    return fail(ErrorKind::unsupported, fmt::format("{}: objdump does not read it", path));
  scan.complete = true;
  return scan;
}

}  // namespace axle::binaries
