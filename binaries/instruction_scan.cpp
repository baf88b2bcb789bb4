#include "binaries/instruction_scan.h"

#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/utsname.h>

#include "binaries/instruction_classes.h"
#include "detect/machine.h"
#include "foundation/system/program_run.h"
#include "foundation/text/byte_size.h"

namespace axle::binaries {
namespace {

using detect::Capability;

constexpr std::size_t longest_line = 4096;

/// The current position in objdump's listing.
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

/// Debian's objdump reads the machine's own architecture; others have a separate program.
std::string objdump_for(detect::Arch arch) {
  utsname own{};
  const bool native = ::uname(&own) == 0 && detect::render_arch(arch) == own.machine;
  return native ? "objdump" : fmt::format("{}-linux-gnu-objdump", detect::render_arch(arch));
}

std::unexpected<Error> cannot_start(const std::string& program, const std::error_code& error) {
  if (error == std::errc::no_such_file_or_directory)
    return fail(ErrorKind::not_found, fmt::format("{} is not installed", program),
                "install binutils");
  return fail(ErrorKind::io, fmt::format("{} cannot be started: {}", program, error.message()));
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
    return fail(ErrorKind::unsupported, fmt::format("{} has {}, more than is disassembled", path,
                                                    text::render_memory(size)));
  }
  const std::string objdump = objdump_for(arch);
  InstructionScan scan;
  Listing at;
  std::string text;
  system::ProgramSettings settings;
  settings.time_limit = limits.time;
  settings.errors = system::ErrorStream::dropped;
  settings.take_output = [&](std::string_view piece) {
    text += piece;
    count_lines(text, arch, at, scan);
  };
  const auto run = system::run_program(
      {{objdump, "-d", "--no-show-raw-insn", "--no-addresses", path}}, settings);
  if (!run) return cannot_start(objdump, run.error());
  if (run->timed_out) return scan;
  if (run->exit_code != 0)
    return fail(ErrorKind::unsupported, fmt::format("{}: objdump cannot read it", path));
  scan.complete = true;
  return scan;
}

}  // namespace axle::binaries
