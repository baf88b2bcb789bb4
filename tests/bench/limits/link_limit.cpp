// The physical limit of a warm installation that makes every file a hard link: the system calls
// alone, without names to find out, records to write or anything to compare.
//
// usage: link_limit STORE FOLDER: all files of STORE/wheels/*/tree become links below FOLDER,
// which is new. Prints milliseconds: "<looking at each file> <folders> <links>", by as many threads
// as there are processors.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/parallel.h"

namespace {

namespace fs = std::filesystem;

struct Tree {
  int from = -1;
  int to = -1;
  std::vector<std::string> folders;  ///< each after the one above it
  std::vector<std::string> files;
};

Tree list(const fs::path& tree, const fs::path& destination) {
  Tree listed;
  for (fs::recursive_directory_iterator entry(tree), end; entry != end; ++entry) {
    auto& of_kind = entry->is_directory() ? listed.folders : listed.files;
    of_kind.push_back(entry->path().lexically_relative(tree).string());
  }
  std::ranges::sort(listed.folders);
  std::ranges::sort(listed.files);
  fs::create_directories(destination);
  listed.from = ::open(tree.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  listed.to = ::open(destination.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  return listed;
}

void fail(const std::string& path) {
  std::perror(path.c_str());
  std::exit(1);
}

/// `work(tree, path)` for each path, by several threads that take a few neighbours at a time.
template <typename Work>
double measure(const std::vector<Tree>& trees, const Work& work) {
  constexpr std::size_t at_a_time = 128;
  std::vector<std::pair<std::size_t, std::size_t>> batches;  // tree, first file
  for (std::size_t tree = 0; tree < trees.size(); ++tree) {
    for (std::size_t first = 0; first < trees[tree].files.size(); first += at_a_time)
      batches.emplace_back(tree, first);
  }
  const auto begin = std::chrono::steady_clock::now();
  axle::system::for_each_at_once(
      batches.size(), axle::system::usable_processors(), [&](std::size_t batch) {
        const auto& [number, first] = batches[batch];
        const Tree& tree = trees[number];
        const std::size_t end = std::min(first + at_a_time, tree.files.size());
        for (std::size_t i = first; i < end; ++i) work(tree, tree.files[i]);
      });
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin)
      .count();
}

}  // namespace

int main(int count, char** words) {
  if (count != 3) {
    std::fputs("usage: link_limit STORE FOLDER\n", stderr);
    return 2;
  }
  std::vector<Tree> trees;
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(words[1]) / "wheels"))
    trees.push_back(list(entry.path() / "tree", fs::path(words[2]) / std::to_string(trees.size())));
  const double looks = measure(trees, [](const Tree& tree, const std::string& path) {
    struct stat status = {};
    if (::fstatat(tree.from, path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) fail(path);
  });
  const auto begin = std::chrono::steady_clock::now();
  axle::system::for_each_at_once(trees.size(), axle::system::usable_processors(),
                                 [&](std::size_t i) {
                                   for (const std::string& path : trees[i].folders)
                                     if (::mkdirat(trees[i].to, path.c_str(), 0777) != 0)
                                       fail(path);
                                 });
  const double folders =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  const double links = measure(trees, [](const Tree& tree, const std::string& path) {
    if (::linkat(tree.from, path.c_str(), tree.to, path.c_str(), 0) != 0) fail(path);
  });
  std::printf("%.2f %.2f %.2f\n", looks, folders, links);
}
