#include "installer/store/entry_mark.h"

#include <array>
#include <cerrno>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/boot.h"
#include "installer/file_access.h"

namespace axle::installer {
namespace {

std::string mark_of(const std::string& entry) { return entry + "/unflushed"; }

/// The boot of the mark; empty: there is none.
std::string marked_boot(const std::string& entry) {
  std::array<char, 64> text{};
  const ssize_t length = ::readlink(mark_of(entry).c_str(), text.data(), text.size());
  // What is no link, or cannot be read, is not ours: it proves nothing.
  if (length < 0) return says_absent(errno) ? std::string() : std::string("?");
  return {text.data(), static_cast<std::size_t>(length)};
}

}  // namespace

void mark_unflushed_entry(const std::string& entry) {
  const std::string boot = system::boot_id();
  if (!boot.empty()) (void)::symlink(boot.c_str(), mark_of(entry).c_str());
}

bool may_be_damaged(const std::string& entry) {
  const std::string boot = marked_boot(entry);
  return !boot.empty() && boot != system::boot_id();
}

void forget_unflushed_entry(const std::string& entry) { (void)::unlink(mark_of(entry).c_str()); }

void forget_unflushed_entries(const std::set<std::string>& entries, const std::string& flushed) {
  const auto device_of = [](const std::string& path) {
    const auto status = look_at(path);
    return status && *status ? std::optional((*status)->st_dev) : std::nullopt;
  };
  const std::string boot = system::boot_id();
  std::vector<std::string> marked;
  for (const std::string& entry : entries)
    if (!boot.empty() && marked_boot(entry) == boot) marked.push_back(entry);
  if (marked.empty()) return;
  if (device_of(marked.front()) != device_of(flushed)) {
    const auto folder = open_folder(marked.front());
    if (!folder || ::syncfs(folder->get()) != 0) return;
  }
  for (const std::string& entry : marked) forget_unflushed_entry(entry);
}

}  // namespace axle::installer
