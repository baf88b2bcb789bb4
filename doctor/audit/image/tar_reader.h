#pragma once
// A reader of tar archives as images have them: POSIX ustar and pax, and GNU tar's long names
// (POSIX.1-2017, pax; GNU tar manual, "Basic Tar Format"). Nothing is written, so links are names
// only. libarchive, the usual choice, does not tell where a member lies in a file, which the layers
// of an image need, and inflates at a third of ISA-L's speed; the tests compare with it and with
// Python's.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/audit/image/byte_stream.h"
#include "foundation/report/error.h"

namespace axle::doctor {

/// What a name is when "." parts are left out; nullopt: it leads out, it has a ".." part.
[[nodiscard]] std::optional<std::string> tar_name(std::string_view text);

enum class TarKind : std::uint8_t { file, hard_link, symlink, folder, device, other };

struct TarMember {
  std::string name;  ///< relative, without "." parts; empty: the root
  TarKind kind = TarKind::file;
  std::uint64_t size = 0;    ///< of its content in the archive
  std::uint64_t offset = 0;  ///< of its content
  std::string link = {};     ///< of a hard or symbolic link: what it names, as it stands there
  bool sparse = false;       ///< its content is not the file's
  bool outside = false;      ///< the name leads out of the archive: it has a ".." part
};

struct TarLimits {
  std::size_t members = 5'000'000;
  std::size_t longest_name = 4096;         ///< bytes
  std::uint64_t longest_header = 1 << 20;  ///< bytes of a pax header
};

class TarReader {
 public:
  /// `stream` must outlive it.
  TarReader(ByteStream& stream, std::string where, const TarLimits& limits = {})
      : stream_(stream), where_(std::move(where)), limits_(limits) {}

  /// What is left of the last one's content is skipped. nullopt: the end. Errors: malformed (also
  /// for one that is truncated), those of the stream.
  [[nodiscard]] Result<std::optional<TarMember>> next();
  /// Of the content; 0: its end. Errors: as above.
  [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out);

 private:
  struct Header;
  struct Said;

  [[nodiscard]] std::unexpected<Error> damaged(std::string_view why) const;
  [[nodiscard]] Result<bool> read_block(std::span<std::byte> block);
  [[nodiscard]] Result<void> skip(std::uint64_t bytes);
  [[nodiscard]] Result<std::string> read_text(std::uint64_t size);
  [[nodiscard]] Result<void> take_pax(std::string_view text, Said& said) const;
  [[nodiscard]] Result<TarMember> make_member(const Header& header, Said said);
  [[nodiscard]] Result<void> skip_sparse_headers(const Header& header);

  ByteStream& stream_;
  std::string where_;
  TarLimits limits_;
  std::uint64_t position_ = 0;  ///< in the archive
  std::uint64_t left_ = 0;      ///< of the content
  std::uint64_t padding_ = 0;   ///< behind it
  std::size_t count_ = 0;
};

}  // namespace axle::doctor
