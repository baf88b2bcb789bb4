#include "index/http/curl_loader.h"

#include <bit>
#include <filesystem>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace axle::index {
namespace {

constexpr const char* module_name = "libaxle_curl.so";
constexpr const char* hint = "reinstall the complete program; network access needs this file";

}  // namespace

std::vector<std::string> curl_module_paths() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return {};
  const std::filesystem::path folder = program.parent_path();
  return {folder / module_name, folder.parent_path() / "lib" / "axle" / module_name};
}

Result<const AxleCurlApi*> load_curl(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (!std::filesystem::exists(path, error)) continue;
    void* module = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (module == nullptr) {
      return fail(ErrorKind::io,
                  fmt::format("the network module {} cannot be opened: {}", path, dlerror()), hint);
    }
    const auto factory = std::bit_cast<AxleCurlFactory>(dlsym(module, axle_curl_factory_name));
    const AxleCurlApi* api = factory == nullptr ? nullptr : factory(axle_curl_api_version);
    if (api == nullptr || api->version != axle_curl_api_version) {
      dlclose(module);
      return fail(ErrorKind::io,
                  fmt::format("the network module {} belongs to another release of Axle", path),
                  hint);
    }
    return api;
  }
  return fail(
      ErrorKind::io,
      fmt::format("the network module is missing; looked for {}", fmt::join(paths, " and ")), hint);
}

}  // namespace axle::index
