#include "detect/driver_libraries.h"

#include <cstdlib>

#include <dlfcn.h>
#include <unistd.h>

#include "detect/host.h"
#include "detect/library_search.h"
#include "detect/library_trust.h"
#include "detect/loader_cache.h"

namespace axle::detect {
namespace {

/// What the loader of this process would find by that name. It read the variable when the process
/// began, and ignores it where AT_SECURE is set.
std::string refuse_name(const char* name, Privilege privilege) {
  if (privilege == Privilege::user) return {};
  const char* const path = std::getenv("LD_LIBRARY_PATH");
  const auto host = make_real_host();
  const std::string cache =
      host->read_file(std::string(loader_cache_file), largest_loader_cache).value_or("");
  return refuse_search(name, path == nullptr ? "" : path, cache, privilege);
}

}  // namespace

bool VendorLibrary::open(const std::string& name) {
  handle_ = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle_ != nullptr) return true;
  const char* const error = ::dlerror();
  // The first failure by name is the one that tells; "no such file" of later names is noise.
  if (error != nullptr && (error_.empty() || name.find('/') != std::string::npos)) error_ = error;
  return false;
}

VendorLibrary::VendorLibrary(std::initializer_list<const char*> names) {
  const Privilege privilege = own_privilege();
  for (const char* name : names) {
    const bool whole_path = std::string_view(name).find('/') != std::string_view::npos;
    if (privilege == Privilege::elevated && !whole_path) continue;
    const std::string refused =
        whole_path ? refuse_file(name, privilege) : refuse_name(name, privilege);
    if (!refused.empty()) {
      error_ = refused_ = refused;
    } else if (open(name)) {
      return;
    }
  }
  for (const std::string_view folder : system_library_folders()) {
    for (const char* name : names) {
      const std::string path = std::string(folder) + '/' + name;
      if (::access(path.c_str(), F_OK) != 0) continue;
      if (std::string refused = refuse_file(path, privilege); !refused.empty()) {
        error_ = refused_ = std::move(refused);
      } else if (open(path)) {
        return;
      }
    }
  }
}

void VendorLibrary::say_missing(LineSink& sink, std::string_view word) const {
  if (!refused_.empty()) sink.say("library.refused", {refused_});
  sink.say(word, {error_});
}

void* VendorLibrary::find_address(const char* symbol) const { return ::dlsym(handle_, symbol); }

std::string VendorLibrary::file_of(const char* symbol) const {
  void* const address = find_address(symbol);
  Dl_info info{};
  if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  std::string file = real_path(info.dli_fname);
  return file.empty() ? info.dli_fname : file;
}

std::string real_path(const std::string& path) {
  char* const resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return {};
  std::string file = resolved;
  std::free(resolved);
  return file;
}

void drop_environment(std::string_view name) {
  if (environ == nullptr) return;
  char** kept = environ;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view variable = *entry;
    const bool dropped =
        variable.size() > name.size() && variable.starts_with(name) && variable[name.size()] == '=';
    if (!dropped) *kept++ = *entry;
  }
  *kept = nullptr;
}

void ask_libraries(GpuVendor vendor, LineSink& sink) {
  if (own_privilege() == Privilege::elevated && environ != nullptr) *environ = nullptr;
  switch (vendor) {
    case GpuVendor::nvidia:
      return ask_nvidia_libraries(sink);
    case GpuVendor::amd:
      return ask_amd_libraries(sink);
    case GpuVendor::intel:
      return ask_intel_libraries(sink);
  }
}

}  // namespace axle::detect
