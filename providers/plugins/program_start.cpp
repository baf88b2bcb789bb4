#include "providers/plugins/program_start.h"

#include <algorithm>
#include <cstdint>
#include <fstream>

#include <unistd.h>

#include "foundation/elf/elf_bytes.h"
#include "foundation/elf/elf_tables.h"

namespace axle::plugins {
namespace {

constexpr std::size_t longest_head = 4096;
constexpr std::uint64_t largest_table = 512 * 1024;  // bytes of an ELF file's segment table
constexpr int most_interpreters = 4;                 // the kernel's limit

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

std::string loader_of(const std::string& program) {
  elf::FileBytes file(program, largest_table);
  return elf::read_loader(file);
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
  } else if (const std::string loader = loader_of(program); !loader.empty()) {
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
