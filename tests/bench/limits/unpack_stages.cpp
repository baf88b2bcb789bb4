// The work of a cold installation, stage by stage, from which more_cores.py models how long it
// takes on more cores than this machine has.
//
//   unpack_stages WHEEL FOLDER
//
// FOLDER is new; the wheel is unpacked there. The first line of stdout is "<bytes of the wheel>
// <seconds of hashing them> <of writing them into a file>", each further one a
// member, in the order of the file: "<begin of its record> <its end> <bytes unpacked> <seconds of
// inflating> <of hashing> <of writing>". All seconds are processor time of one thread, of what the
// installer uses for each stage.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "wheel/hash/sha256.h"
#include "wheel/zip/zip_reader.h"

namespace {

namespace fs = std::filesystem;
using axle::Result;

double processor_seconds() {
  timespec now = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// Runs `work` and adds what it took.
template <class Work>
auto timed(double& seconds, const Work& work) {
  const double begin = processor_seconds();
  auto result = work();
  seconds += processor_seconds() - begin;
  return result;
}

[[noreturn]] void fail(const std::string& why) {
  std::fprintf(stderr, "unpack_stages: %s\n", why.c_str());
  std::exit(1);
}

struct Stages {
  double all = 0;  ///< with inflating and what it checks
  double hashing = 0;
  double writing = 0;
};

/// Unpacks it as the installer does: hashed and written piece by piece.
Stages unpack(const axle::wheel::ZipReader& archive, const axle::wheel::ZipEntry& entry,
              const fs::path& target) {
  Stages stages;
  const double begin = processor_seconds();
  int file = -1;
  timed(stages.writing, [&] {
    file = ::open(target.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return file;
  });
  if (file < 0) fail("cannot create " + target.string());
  axle::wheel::Sha256 hash;
  const auto take = [&](std::span<const std::byte> bytes) -> Result<void> {
    timed(stages.hashing, [&] {
      hash.update(bytes);
      return 0;
    });
    while (!bytes.empty()) {
      const ssize_t put =
          timed(stages.writing, [&] { return ::write(file, bytes.data(), bytes.size()); });
      if (put < 0) fail("cannot write " + target.string());
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
    return {};
  };
  if (const auto read = archive.read(entry, take); !read) fail(read.error().message);
  timed(stages.writing, [&] { return ::close(file); });
  stages.all = processor_seconds() - begin;
  return stages;
}

struct WholeWheel {
  double hashing = 0;
  double storing = 0;
};

/// Hashes the wheel and writes it into another file, piece by piece as it would come.
WholeWheel take_in(axle::wheel::ByteSource& wheel, const fs::path& folder) {
  fs::create_directories(folder);
  const fs::path path = folder / "arriving";
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) fail("cannot create " + path.string());
  ::unlink(path.c_str());
  WholeWheel taken;
  axle::wheel::Sha256 hash;
  std::vector<std::byte> piece(16U << 10);
  for (std::uint64_t at = 0; at < wheel.size(); at += piece.size()) {
    const auto some =
        std::span(piece).first(std::min<std::uint64_t>(piece.size(), wheel.size() - at));
    if (!wheel.read(at, some)) fail("cannot read the wheel");
    timed(taken.hashing, [&] {
      hash.update(some);
      return 0;
    });
    if (timed(taken.storing, [&] { return ::write(file, some.data(), some.size()); }) < 0)
      fail("cannot write " + path.string());
  }
  ::close(file);
  return taken;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fputs("usage: unpack_stages WHEEL FOLDER\n", stderr);
    return 2;
  }
  // Not in memory as a whole: what is written should find as much of that as in the installer.
  auto wheel = axle::wheel::open_file_source(words[1]);
  if (!wheel) fail(wheel.error().message);
  const WholeWheel taken = take_in(**wheel, words[2]);
  std::printf("%llu %.9f %.9f\n", static_cast<unsigned long long>((*wheel)->size()), taken.hashing,
              taken.storing);
  auto archive = axle::wheel::ZipReader::open(std::move(*wheel), words[1]);
  if (!archive) fail(archive.error().message);
  std::vector<axle::wheel::ZipEntry> entries = archive->entries();
  std::ranges::sort(entries, {}, &axle::wheel::ZipEntry::header_offset);
  for (const axle::wheel::ZipEntry& entry : entries) {
    const fs::path target = fs::path(words[2]) / entry.name;
    fs::create_directories(entry.directory ? target : target.parent_path());
    if (entry.directory) continue;
    const Stages stages = unpack(*archive, entry, target);
    std::printf("%llu %llu %llu %.9f %.9f %.9f\n",
                static_cast<unsigned long long>(entry.header_offset),
                static_cast<unsigned long long>(entry.record_end),
                static_cast<unsigned long long>(entry.size),
                stages.all - stages.hashing - stages.writing, stages.hashing, stages.writing);
  }
}
