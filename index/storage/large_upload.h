#pragma once
// A large file goes to a storage in parts. Which ones are there is written down beside the file, so
// that another command goes on where this one was interrupted.

#include <cstdint>
#include <functional>
#include <string>

#include "foundation/report/error.h"
#include "index/storage/storage_client.h"

namespace axle::index {

/// A larger file goes in parts of this size at least.
inline constexpr std::uint64_t part_bytes = 16ULL << 20;
inline constexpr std::uint64_t most_bytes_at_once = 64ULL << 20;

struct LargeFile {
  std::string path;
  std::string key;
  ObjectKind kind;
  std::string sha256;
  std::uint64_t size = 0;
};

/// Where a file that is sent in parts has its notes.
[[nodiscard]] std::string upload_notes(const std::string& path);

/// `sent` is told each part's bytes, also those that an earlier command sent; by several threads.
/// After an error of the network the parts stay, for the next command, if `goes_on`; else, and when
/// the storage refuses one, they are removed, as far as it lets us: the hint says what may be left.
/// Errors: those of StorageClient, io.
[[nodiscard]] Result<void> upload_in_parts(StorageClient& storage, const LargeFile& file,
                                           bool goes_on,
                                           const std::function<void(std::uint64_t)>& sent);

}  // namespace axle::index
