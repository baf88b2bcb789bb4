#include "index/opened_module.h"

#include <algorithm>
#include <filesystem>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "wheel/libraries/opened_libraries.h"

namespace axle::index {
namespace {

std::unexpected<Error> unusable(std::string message) {
  return fail(ErrorKind::io, std::move(message),
              "reinstall the complete program, of which this file is a part");
}

std::vector<std::string>::const_iterator first_present(const std::vector<std::string>& paths) {
  return std::ranges::find_if(paths, [](const std::string& path) {
    std::error_code error;
    return std::filesystem::exists(path, error);
  });
}

}  // namespace

std::vector<std::string> module_paths(const Module& module) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const std::filesystem::path folder = program.parent_path();
  return {folder / module.file, folder.parent_path() / "lib" / "axle" / module.file};
}

Result<void*> open_module(const Module& module, const std::vector<std::string>& paths) {
  if (void* const carried = wheel::carried_function(module.function)) return carried;
  const auto path = first_present(paths);
  if (path == paths.end()) {
    return unusable(
        fmt::format("the {} is missing; looked for {}", module.title, fmt::join(paths, " and ")));
  }
  void* const opened = dlopen(path->c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (opened == nullptr) {
    return unusable(fmt::format("the {} {} cannot be opened: {}", module.title, *path, dlerror()));
  }
  void* const function = dlsym(opened, module.function);
  if (function == nullptr) return other_release(module, paths);
  return function;
}

std::unexpected<Error> other_release(const Module& module, const std::vector<std::string>& paths) {
  const auto path = first_present(paths);
  return unusable(fmt::format("the {} {} belongs to another release of Axle", module.title,
                              path == paths.end() ? module.file : path->c_str()));
}

}  // namespace axle::index
