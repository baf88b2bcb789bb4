#include "detect/drivers/driver_libraries.h"

#include <algorithm>
#include <cstdlib>

#include <dlfcn.h>
#include <unistd.h>

#include "detect/drivers/library_search.h"
#include "detect/drivers/library_trust.h"
#include "detect/host.h"
#include "detect/vendor_probe.h"

namespace axle::detect {
namespace {

bool is_path(std::string_view name) { return name.find('/') != std::string_view::npos; }

}  // namespace

bool VendorLibrary::open(const std::string& name) {
  handle_ = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle_ != nullptr) return true;
  const char* const error = ::dlerror();
  // The error of the first name is the informative one; "no such file" for later names is noise.
  if (error != nullptr && (error_.empty() || is_path(name))) error_ = error;
  return false;
}

bool VendorLibrary::open_trusted(const std::string& path, Privilege privilege) {
  const std::string refused = refuse_file(path, privilege);
  if (refused.empty()) return open(path);
  error_ = refused_ = refused;
  return false;
}

/// By its bare name only for ordinary users: the loader skips files of other architectures and
/// searches for builds for this CPU, so the file that root would load cannot be predicted.
bool VendorLibrary::open_name(const std::string& name, Privilege privilege) {
  if (privilege == Privilege::user) return open(name);
  if (privilege == Privilege::elevated) return false;
  const auto host = make_real_host();
  return std::ranges::any_of(LibrarySearch(*host).find_all(name), [&](const std::string& path) {
    return open_trusted(path, privilege);
  });
}

VendorLibrary::VendorLibrary(std::initializer_list<const char*> names) {
  const Privilege privilege = own_privilege();
  for (const char* name : names) {
    if (is_path(name) ? open_trusted(name, privilege) : open_name(name, privilege)) return;
  }
  for (const std::string_view folder : system_library_folders()) {
    for (const char* name : names) {
      const std::string path = std::string(folder) + '/' + name;
      if (::access(path.c_str(), F_OK) == 0 && open_trusted(path, privilege)) return;
    }
  }
  if (error_.empty()) error_ = std::string(*names.begin()) + ": there is no such library";
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
  vendor_probe(vendor).ask_libraries(sink);
}

}  // namespace axle::detect
