#include "builder/process.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace axle::builder {

namespace {

// What posix_spawn is told about files and folder; freed with it.
class FileActions {
 public:
  FileActions() { posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { posix_spawn_file_actions_destroy(&actions_); }

  void redirect(const Command& command) {
    const std::string log = command.log.empty() ? "/dev/null" : command.log;
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions_, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&actions_, STDOUT_FILENO, STDERR_FILENO);
    if (!command.folder.empty()) {
      posix_spawn_file_actions_addchdir_np(&actions_, command.folder.c_str());
    }
  }
  [[nodiscard]] const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

// The caller's environment with `variables` in place of its own of the same name.
std::vector<std::string> merge_environment(
    const std::vector<std::pair<std::string, std::string>>& variables) {
  std::vector<std::string> merged;
  for (const auto& [name, value] : variables) merged.push_back(name + "=" + value);
  const std::size_t own = merged.size();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = false;
    for (std::size_t i = 0; i < own; ++i) replaced = replaced || variables[i].first == name;
    if (!replaced) merged.emplace_back(text);
  }
  return merged;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

Result<int> wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return fail(ErrorKind::io, fmt::format("waitpid: {}", strerror(errno)));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

Result<int> run_command(const Command& command) {
  FileActions actions;
  actions.redirect(command);
  std::vector<std::string> arguments = command.arguments;
  std::vector<std::string> environment = merge_environment(command.variables);
  const std::vector<char*> argv = pointers(arguments);
  const std::vector<char*> envp = pointers(environment);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, argv.front(), actions.get(), nullptr, argv.data(), envp.data());
  if (error == ENOENT) {
    return fail(ErrorKind::not_found, fmt::format("{}: no such program", arguments.front()));
  }
  if (error != 0) {
    return fail(ErrorKind::io,
                fmt::format("{}: cannot be started: {}", arguments.front(), strerror(error)));
  }
  return wait_for(child);
}

std::string last_lines(const std::string& path, std::size_t count) {
  constexpr std::streamoff enough = 64 * 1024;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  if (size <= 0) return {};
  file.seekg(size > enough ? size - enough : 0);
  std::string text(static_cast<std::size_t>(size > enough ? enough : size), '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  while (text.ends_with('\n')) text.pop_back();
  std::size_t begin = text.size();
  for (std::size_t line = 0; line < count && begin != std::string::npos && begin > 0; ++line) {
    begin = text.rfind('\n', begin - 1);
  }
  return begin == std::string::npos || begin == 0 ? text : text.substr(begin + 1);
}

}  // namespace axle::builder
