#include "doctor/audit/image/layer_reading.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "doctor/audit/large_buffer.h"
#include "foundation/elf/elf_tables.h"
#include "foundation/text/byte_size.h"

namespace axle::doctor {
namespace {

constexpr std::size_t smallest_library = 64;  ///< bytes of an ELF header
constexpr std::size_t portion = 1 << 20;      ///< bytes read at once
constexpr std::size_t most_faults = 5;

/// Layers are read at once, and so are their libraries: together they have no more than this,
/// unless one alone does.
class MemoryShare {
 public:
  explicit MemoryShare(std::uint64_t size) : size_(size) {
    std::unique_lock lock(mutex);
    freed.wait(lock, [&] { return used == 0 || used + size_ <= most; });
    used += size_;
  }
  ~MemoryShare() {
    {
      const std::lock_guard lock(mutex);
      used -= size_;
    }
    freed.notify_all();
  }
  MemoryShare(const MemoryShare&) = delete;
  MemoryShare& operator=(const MemoryShare&) = delete;

 private:
  static constexpr std::uint64_t most = 4ULL << 30;
  static inline std::mutex mutex;
  static inline std::condition_variable freed;
  static inline std::uint64_t used = 0;

  std::uint64_t size_;
};

/// Reads the members of one layer.
class LayerReader {
 public:
  LayerReader(ByteStream& stream, std::string where, unsigned threads)
      : where_(where), tar_(stream, std::move(where)), threads_(threads) {}

  Result<LayerContent> run() {
    while (true) {
      auto member = tar_.next();
      if (!member) return std::unexpected(std::move(member).error());
      if (!*member) return std::move(content_);
      if (auto done = take(**member); !done) return std::unexpected(std::move(done).error());
    }
  }

 private:
  Result<void> take(const TarMember& member) {
    if (member.outside) {
      if (content_.faults.size() < most_faults)
        content_.faults.push_back(
            fmt::format("{}: {} leads out of the image", where_, member.name));
      return {};
    }
    if (member.name.empty()) return {};
    content_.names += member.name.size() + member.link.size();
    if (content_.names > most_image_names)
      return fail(ErrorKind::unsupported,
                  fmt::format("{}: the names in it are longer than {} together", where_,
                              text::render_bytes(most_image_names)));
    content_.entries.push_back({member.name, member.kind, member.size});
    if (member.kind == TarKind::hard_link)
      content_.entries.back().link = tar_name(member.link).value_or(std::string());
    if (member.kind != TarKind::file || member.size < smallest_library) return {};
    return member.sparse ? say_sparse(member) : read_file(member);
  }

  /// `tar --sparse`: what is stored is not what the file is.
  Result<void> say_sparse(const TarMember& member) {
    const std::string_view name = std::string_view(member.name).substr(member.name.rfind('/') + 1);
    if (!name.contains(".so")) return {};
    return add(member.name,
               UnreadLibrary{member.name, "it is stored as a sparse file, which is not read"});
  }

  Result<void> read_file(const TarMember& member) {
    std::array<std::byte, smallest_library> begin{};
    if (auto done = fill(begin); !done) return done;
    if (!elf::is_elf({reinterpret_cast<const char*>(begin.data()), begin.size()})) return {};
    if (content_.libraries.size() >= most_audited_libraries)
      return add(member.name, UnreadLibrary{member.name, "too many libraries", false});
    const MemoryShare share(std::min(member.size, largest_audited_library));
    LargeBuffer buffer(std::min(member.size, largest_audited_library));
    if (member.size > largest_audited_library || !buffer.ok())
      return add(member.name, too_large_library(member.name, member.size));
    if (!buffer.append(begin)) return {};
    while (!buffer.room().empty()) {
      auto read = tar_.read(buffer.room().first(std::min(portion, buffer.room().size())));
      if (!read) return std::unexpected(std::move(read).error());
      if (*read == 0) break;
      buffer.grow(*read);
    }
    return add(member.name, read_audited_library(member.name, buffer.view(), threads_));
  }

  Result<void> fill(std::span<std::byte> out) {
    while (!out.empty()) {
      auto read = tar_.read(out);
      if (!read) return std::unexpected(std::move(read).error());
      if (*read == 0) return {};
      out = out.subspan(*read);
    }
    return {};
  }

  Result<void> add(const std::string& path, ReadLibrary library) {
    content_.libraries.push_back(std::move(library));
    content_.libraries_at.push_back(path);
    return {};
  }

  std::string where_;
  TarReader tar_;
  unsigned threads_;
  LayerContent content_;
};

}  // namespace

Result<LayerContent> read_layer(ByteRange range, std::string where, std::string sha256,
                                unsigned threads) {
  auto stream = open_unpacked(std::move(range), where, std::move(sha256));
  if (!stream) return std::unexpected(std::move(stream).error());
  auto content = LayerReader(**stream, std::move(where), threads).run();
  if (!content) return content;
  // What follows the archive belongs to the hash, too.
  if (auto rest = (*stream)->skip(UINT64_MAX); !rest)
    return std::unexpected(std::move(rest).error());
  return content;
}

}  // namespace axle::doctor
