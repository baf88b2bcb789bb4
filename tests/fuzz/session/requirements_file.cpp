// A requirements file: whatever it says is read or refused with its line.
#include "session/requests/requirements_file.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace {

/// A folder of its own: a nested "-r 2" beside a file in /proc/self/fd would wait for whoever reads
/// what this process says.
class Folder {
 public:
  Folder() {
    std::string name = std::filesystem::temp_directory_path() / "axle-fuzz-XXXXXX";
    if (mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }

  [[nodiscard]] std::string write(std::string_view content) const {
    const std::string path = path_ / "requirements.txt";
    std::ofstream file(path, std::ios::binary);
    file << content;
    if (!file.flush()) std::abort();
    return path;
  }

 private:
  std::filesystem::path path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A nested "-r /dev/stdin" would wait for the terminal.
  static const bool no_input = std::freopen("/dev/null", "r", stdin) != nullptr;
  if (!no_input) std::abort();
  static const Folder folder;
  const std::string path =
      folder.write(std::string_view(reinterpret_cast<const char*>(data), size));
  axle::session::RequirementsFile into;
  const axle::session::RemoteText no_server = [&](const std::string&) -> axle::Result<std::string> {
    return axle::fail(axle::ErrorKind::io, path + ": no server");
  };
  const auto read = axle::session::read_requirements_file(path, false, no_server, into);
  if (!read && !read.error().message.starts_with(path)) std::abort();
  return 0;
}
