#include "providers/plugins/program_start.h"

#include <algorithm>
#include <cstring>
#include <fstream>

#include <elf.h>
#include <unistd.h>

namespace axle::plugins {
namespace {

constexpr std::size_t longest_head = 4096;
constexpr int most_interpreters = 4;  // as the kernel

std::string head_of(const std::string& path) {
  std::string head(longest_head, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return head;
}

std::string in_folders(std::string_view name, std::string_view folders) {
  while (!folders.empty()) {
    const std::size_t colon = std::min(folders.find(':'), folders.size());
    std::string path = std::string(folders.substr(0, colon)) + "/" + std::string(name);
    if (::access(path.c_str(), X_OK) == 0) return path;
    folders.remove_prefix(std::min(colon + 1, folders.size()));
  }
  return {};
}

/// The first line of a script: the interpreter and, perhaps, one argument.
struct Shebang {
  std::string interpreter;
  std::string argument;
};

Shebang parse_shebang(std::string_view head) {
  if (!head.starts_with("#!")) return {};
  std::string_view line = head.substr(2, std::min(head.find('\n'), head.size()) - 2);
  const auto trim = [](std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos) return std::string_view();
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
  };
  line = trim(line);
  const std::size_t blank = std::min(line.find_first_of(" \t"), line.size());
  return {std::string(line.substr(0, blank)), std::string(trim(line.substr(blank)))};
}

bool is_env(const Shebang& shebang) {
  return shebang.interpreter.ends_with("/env") && !shebang.argument.empty() &&
         shebang.argument.find_first_of(" \t=-") == std::string::npos;
}

/// PT_INTERP of a 64-bit ELF file of this machine's byte order; empty when there is none.
std::string loader_of(std::string_view head) {
  Elf64_Ehdr header{};
  if (head.size() < sizeof(header) || !head.starts_with(ELFMAG)) return {};
  std::memcpy(&header, head.data(), sizeof(header));
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr)) return {};
  for (std::size_t i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment{};
    if (header.e_phoff > head.size() ||
        head.size() - header.e_phoff < (i + 1) * sizeof(Elf64_Phdr)) {
      return {};
    }
    std::memcpy(&segment, head.data() + header.e_phoff + i * sizeof(Elf64_Phdr), sizeof(segment));
    if (segment.p_type != PT_INTERP) continue;
    if (segment.p_offset > head.size() || segment.p_filesz > head.size() - segment.p_offset)
      return {};
    const std::string_view name = head.substr(segment.p_offset, segment.p_filesz);
    return std::string(name.substr(0, name.find('\0')));
  }
  return {};
}

void append_files(const std::string& program, std::string_view folders, int depth,
                  std::vector<std::string>& files) {
  if (program.empty() || depth > most_interpreters) return;
  files.push_back(program);
  const std::string head = head_of(program);
  if (const Shebang shebang = parse_shebang(head); !shebang.interpreter.empty()) {
    append_files(shebang.interpreter, folders, depth + 1, files);
    if (is_env(shebang))
      append_files(in_folders(shebang.argument, folders), folders, depth + 1, files);
  } else if (const std::string loader = loader_of(head); !loader.empty()) {
    files.push_back(loader);
  }
}

}  // namespace

ProgramStart start_of(const std::string& program, const std::vector<std::string>& arguments,
                      std::string_view folders) {
  ProgramStart start{program, {program}};
  start.arguments.insert(start.arguments.end(), arguments.begin(), arguments.end());
  for (int depth = 0; depth < most_interpreters; ++depth) {
    Shebang shebang = parse_shebang(head_of(start.program));
    if (shebang.interpreter.empty()) break;
    if (is_env(shebang)) {
      const std::string found = in_folders(shebang.argument, folders);
      if (found.empty()) break;
      shebang = {found, {}};
    }
    start.arguments.front() = start.program;
    if (!shebang.argument.empty())
      start.arguments.insert(start.arguments.begin(), shebang.argument);
    start.arguments.insert(start.arguments.begin(), shebang.interpreter);
    start.program = shebang.interpreter;
  }
  return start;
}

std::vector<std::string> files_to_start(const std::string& program, std::string_view folders) {
  std::vector<std::string> files;
  append_files(program, folders, 0, files);
  return files;
}

}  // namespace axle::plugins
