#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "detect/cpu/registers.h"
#include "detect/drivers/children.h"
#include "detect/drivers/driver_libraries.h"
#include "detect/host.h"

namespace axle::detect {
namespace {

class RealHost final : public Host {
 public:
  Arch arch() override { return native_arch(); }

  std::optional<CpuidLeaf> cpuid(std::uint32_t leaf, std::uint32_t subleaf) override {
    return read_cpuid(leaf, subleaf);
  }
  std::uint64_t xcr0() override { return read_xcr0(); }
  std::optional<std::uint64_t> xcomp(XcompQuery query) override { return read_xcomp(query); }
  bool on_cpu(unsigned cpu, const std::function<void()>& work) override;
  std::optional<std::uint64_t> auxiliary(unsigned long type) override;
  std::optional<unsigned> sve_vector_bytes() override { return read_sve_vector_bytes(); }
  std::optional<unsigned> sme_vector_bytes() override { return read_sme_vector_bytes(); }
  std::optional<std::uint64_t> riscv_hwprobe(std::int64_t key) override {
    return read_riscv_hwprobe(key);
  }
  std::optional<std::uint64_t> riscv_vtype() override { return read_riscv_vtype(); }
  std::optional<std::string> sysctl(const std::string& /*name*/) override { return std::nullopt; }

  SystemName system_name() override;
  unsigned online_cpus() override;
  std::string glibc_version() override;
  ProgramAnswer run_program(const std::string& command,
                            std::chrono::milliseconds time_limit) override {
    return run_in_child(command, time_limit);
  }

  using Host::read_file;
  std::optional<std::string> read_file(const std::string& path, std::size_t limit) override;
  std::vector<std::string> list_folder(const std::string& path) override;
  std::optional<std::string> read_link(const std::string& path) override;
  std::optional<std::string> file_stamp(const std::string& path) override;
  bool accessible(const std::string& path, Access access) override;
  std::optional<std::string> environment(const std::string& name) override;

  std::vector<DriverAnswer> ask_drivers(std::span<const GpuVendor> vendors,
                                        std::chrono::milliseconds time_limit) override;
};

bool RealHost::on_cpu(unsigned cpu, const std::function<void()>& work) {
  cpu_set_t before;
  if (::sched_getaffinity(0, sizeof(before), &before) != 0) return false;
  if (cpu >= CPU_SETSIZE) return false;
  // Not only the CPUs where this thread may run now: the mask is a setting of whoever started it.
  // The kernel rejects CPUs that the control group or the system does not have.
  cpu_set_t only;
  CPU_ZERO(&only);
  CPU_SET(cpu, &only);
  if (::sched_setaffinity(0, sizeof(only), &only) != 0) return false;
  work();
  ::sched_setaffinity(0, sizeof(before), &before);
  return true;
}

std::optional<std::uint64_t> RealHost::auxiliary(unsigned long type) {
  errno = 0;
  const unsigned long value = ::getauxval(type);
  if (value == 0 && errno == ENOENT) return std::nullopt;
  return value;
}

SystemName RealHost::system_name() {
  utsname name{};
  if (::uname(&name) != 0) return {};
  return {name.sysname, name.release, name.machine};
}

unsigned RealHost::online_cpus() {
  const long count = ::sysconf(_SC_NPROCESSORS_ONLN);
  return count > 0 ? static_cast<unsigned>(count) : 0;
}

std::string RealHost::glibc_version() {
#ifdef _CS_GNU_LIBC_VERSION
  std::array<char, 64> version{};
  const std::size_t length = ::confstr(_CS_GNU_LIBC_VERSION, version.data(), version.size());
  if (length > 0 && length <= version.size()) return version.data();
#endif
  return {};
}

std::optional<std::string> RealHost::read_file(const std::string& path, std::size_t limit) {
  // Non-blocking, so that a FIFO in place of a file cannot block us.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return std::nullopt;
  std::string content;
  std::array<char, 32768> buffer;  // the loader's cache in two reads
  bool readable = true;
  while (content.size() < limit) {
    const std::size_t wanted = std::min(buffer.size(), limit - content.size());
    const ssize_t got = ::read(file, buffer.data(), wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) readable = false;
    if (got <= 0) break;
    content.append(buffer.data(), static_cast<std::size_t>(got));
  }
  ::close(file);
  if (!readable) return std::nullopt;
  return content;
}

std::vector<std::string> RealHost::list_folder(const std::string& path) {
  std::vector<std::string> names;
  DIR* folder = ::opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = ::readdir(folder)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  ::closedir(folder);
  std::ranges::sort(names);
  return names;
}

std::optional<std::string> RealHost::read_link(const std::string& path) {
  std::array<char, 4096> target;
  const ssize_t length = ::readlink(path.c_str(), target.data(), target.size());
  if (length < 0) return std::nullopt;
  return std::string(target.data(), static_cast<std::size_t>(length));
}

std::optional<std::string> RealHost::file_stamp(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  const auto render = [](const timespec& time) {
    return std::to_string(time.tv_sec) + '.' + std::to_string(time.tv_nsec);
  };
  // Size and mtime alone survive `cp -p` of another file; inode and ctime do not.
  return std::to_string(status.st_size) + '-' + render(status.st_mtim) + '-' +
         std::to_string(status.st_ino) + '-' + render(status.st_ctim);
}

bool RealHost::accessible(const std::string& path, Access access) {
  int mode = F_OK;
  if (access == Access::read) mode = R_OK;
  if (access == Access::read_write) mode = R_OK | W_OK;
  return ::faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
}

std::optional<std::string> RealHost::environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  if (value == nullptr) return std::nullopt;
  return value;
}

std::vector<DriverAnswer> RealHost::ask_drivers(std::span<const GpuVendor> vendors,
                                                std::chrono::milliseconds time_limit) {
  return ask_in_children(vendors, ask_libraries, time_limit);
}

}  // namespace

std::unique_ptr<Host> make_real_host() { return std::make_unique<RealHost>(); }

}  // namespace axle::detect
