// A /proc whose processes say anything: pieces parted by NUL are the stat files of process 1, of
// its thread, of process 2, and so on.
#include "providers/plugins/session_use.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace {

namespace fs = std::filesystem;

/// A folder of this run, removed at its end.
struct Proc {
  Proc() {
    std::string pattern = (fs::temp_directory_path() / "axle-fuzz-proc-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) std::abort();
    path = pattern;
    for (const char* process : {"1", "2"})
      fs::create_directories(path / process / "task" / process);
    fs::create_directories(path / "self");
  }
  Proc(const Proc&) = delete;
  Proc& operator=(const Proc&) = delete;
  ~Proc() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  fs::path path;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Proc proc;
  std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* place : {"1/stat", "1/task/1/stat", "2/stat", "2/task/2/stat"}) {
    const std::string_view piece = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(piece.size() + 1, text.size()));
    std::ofstream(proc.path / place, std::ios::binary) << piece;
  }
  (void)axle::plugins::read_session_use(1, false, proc.path.string());
  (void)axle::plugins::read_session_use(1, true, proc.path.string());
  return 0;
}
