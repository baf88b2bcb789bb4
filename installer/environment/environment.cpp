#include "installer/environment/environment.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <unistd.h>

#include "installer/environment/interpreter.h"
#include "installer/environment/interpreter_cache.h"
#include "installer/file_access.h"

namespace axle::installer {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view make_one =
    "create one with `variant venv`, choose one with --python, or use the system's with "
    "--system";

/// A program, or something that cannot be examined: no other may be used in its place.
bool may_be_program(const fs::path& path) {
  const auto status = look_at(path.string(), Links::followed);
  if (!status) return ::access(path.c_str(), X_OK) == 0 || errno != EACCES;
  constexpr mode_t executable = S_IXUSR | S_IXGRP | S_IXOTH;
  return *status && S_ISREG((*status)->st_mode) && ((*status)->st_mode & executable) != 0;
}

/// The interpreter of an environment's folder.
std::optional<std::string> interpreter_in(const fs::path& folder) {
  for (const char* name : {"bin/python3", "bin/python"}) {
    if (may_be_program(folder / name)) return (folder / name).string();
  }
  return std::nullopt;
}

Result<std::string> environment_folder(const std::string& folder, std::string_view named_by) {
  if (auto python = interpreter_in(folder)) return *python;
  const auto there = exists(folder);
  if (!there) return std::unexpected(there.error());
  return fail(ErrorKind::malformed,
              fmt::format("{} ({}) is not a Python environment: {}", folder, named_by,
                          *there ? "it has no bin/python" : "it does not exist"),
              std::string(make_one));
}

Result<std::string> named_python(const EnvironmentRequest& request) {
  const std::string& name = request.python;
  if (name.find('/') == std::string::npos && name != "." && name != "..") {
    const bool version = !name.empty() && name[0] >= '0' && name[0] <= '9';
    // "env" is a folder before it is a program of PATH; a folder in a clone of somebody else's
    // repository is never taken for "python3".
    const bool of_interpreter = version || name.starts_with("python") || name.starts_with("pypy");
    const fs::path folder = fs::path(request.working_dir) / name;
    if (!of_interpreter && interpreter_in(folder))
      return environment_folder(folder.lexically_normal().string(), "--python");
    if (auto found = find_program(version ? "python" + name : name, request.path)) return *found;
  }
  const fs::path path = fs::path(request.working_dir) / name;
  const auto there = look_at(path.string(), Links::followed);
  if (!there) return std::unexpected(there.error());
  if (*there && S_ISDIR((*there)->st_mode))
    return environment_folder(path.lexically_normal().string(), "--python");
  if (may_be_program(path)) return path.lexically_normal().string();
  if (*there) {
    return fail(ErrorKind::malformed,
                fmt::format("{} is neither a Python interpreter nor an environment", path.string()),
                std::string(make_one));
  }
  return fail(ErrorKind::not_found, fmt::format("Python interpreter '{}' not found", name),
              std::string(make_one));
}

/// `.venv` in the working folder or the nearest parent folder.
Result<std::string> nearby_python(const std::string& working_dir) {
  for (fs::path folder = working_dir; !folder.empty(); folder = folder.parent_path()) {
    const fs::path candidate = folder / ".venv";
    const auto there = exists(candidate.string());
    if (!there) return std::unexpected(there.error());
    if (*there) {
      return environment_folder(candidate.string(), "found from the working folder");
    }
    if (folder == folder.root_path()) break;
  }
  return fail(ErrorKind::not_found, "no Python environment found", std::string(make_one));
}

/// PEP 668: the text of `Error` in the file's one section, continuation lines included.
std::string managed_message(std::string_view text) {
  std::string message;
  bool inside = false;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool indented = line.starts_with(' ') || line.starts_with('\t');
    if (line.starts_with("Error=") || line.starts_with("Error =")) {
      inside = true;
      line.remove_prefix(line.find('=') + 1);
    } else if (inside && !indented && !line.empty()) {
      break;
    }
    if (!inside) continue;
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    message.append(line == "." ? "" : line).push_back('\n');
  }
  while (message.ends_with('\n')) message.pop_back();
  return message;
}

/// A mark that cannot be accessed counts as present.
void read_managed(Environment& environment, const std::string& stdlib) {
  if (environment.virtual_env) return;
  const std::string path = stdlib + "/EXTERNALLY-MANAGED";
  environment.externally_managed = exists(path).value_or(true);
  if (!environment.externally_managed) return;
  constexpr std::uint64_t limit = 1U << 16;
  if (auto text = read_file(path, limit))
    environment.externally_managed_message = managed_message(*text);
}

}  // namespace

std::optional<std::string> find_program(std::string_view name, std::string_view path) {
  while (!path.empty()) {
    const std::size_t colon = std::min(path.find(':'), path.size());
    const std::string_view folder = path.substr(0, colon);
    path.remove_prefix(std::min(colon + 1, path.size()));
    // An empty or relative entry means the working folder, from which programs are never run.
    if (!folder.starts_with('/')) continue;
    const fs::path candidate = fs::path(folder) / name;
    if (may_be_program(candidate)) return candidate.string();
  }
  return std::nullopt;
}

Result<std::string> find_interpreter(const EnvironmentRequest& request) {
  if (!request.python.empty()) return named_python(request);
  if (request.system) {
    if (auto found = find_program("python3", request.path)) return *found;
    return fail(ErrorKind::not_found, "no python3 on PATH", std::string(make_one));
  }
  if (!request.virtual_env.empty()) return environment_folder(request.virtual_env, "VIRTUAL_ENV");
  if (!request.conda_prefix.empty())
    return environment_folder(request.conda_prefix, "CONDA_PREFIX");
  return nearby_python(request.working_dir);
}

Result<Environment> find_environment(const EnvironmentRequest& request) {
  auto python = find_interpreter(request);
  if (!python) return std::unexpected(python.error());
  std::string stdlib;
  const InterpreterCache cache(request.cache_folder, *python);
  if (const std::optional<std::string> kept = cache.read()) {
    // An answer that cannot be parsed is ignored: the interpreter is queried again.
    if (auto environment = parse_interpreter_answer(*kept, *python, stdlib)) {
      read_managed(*environment, stdlib);
      return environment;
    }
  }
  constexpr std::chrono::seconds limit(10);
  std::function<void()> meanwhile;
  const std::string folder = fs::path(*python).parent_path().parent_path().string();
  if (request.meanwhile && exists(folder + "/pyvenv.cfg").value_or(false))
    meanwhile = [&] { request.meanwhile(*python, folder); };
  auto answer = ask_interpreter(*python, limit, meanwhile);
  if (!answer) return std::unexpected(answer.error());
  auto environment = parse_interpreter_answer(*answer, *python, stdlib);
  if (!environment) return environment;
  cache.write(*answer);
  read_managed(*environment, stdlib);
  return environment;
}

}  // namespace axle::installer
