#include "detect/driver_libraries.h"

#include <cstdlib>

#include <dlfcn.h>
#include <unistd.h>

#include "detect/library_search.h"

namespace axle::detect {

VendorLibrary::VendorLibrary(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    handle_ = ::dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (handle_ != nullptr) return;
    if (error_.empty()) error_ = ::dlerror();
  }
  for (const std::string_view folder : system_library_folders()) {
    for (const char* name : names) {
      const std::string path = std::string(folder) + '/' + name;
      if (::access(path.c_str(), F_OK) != 0) continue;
      handle_ = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
      if (handle_ != nullptr) return;
      error_ = ::dlerror();
    }
  }
}

void* VendorLibrary::find_address(const char* symbol) const { return ::dlsym(handle_, symbol); }

std::string VendorLibrary::file_of(const char* symbol) const {
  void* const address = find_address(symbol);
  Dl_info info{};
  if (address == nullptr || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  char* const resolved = ::realpath(info.dli_fname, nullptr);
  if (resolved == nullptr) return info.dli_fname;
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
