#pragma once
// The files of an image as it is saved: of an archive or of a folder, OCI layout or docker archive.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/audit/image/byte_stream.h"
#include "doctor/audit/image/tar_reader.h"
#include "foundation/report/error.h"

namespace axle::doctor {

class ImageFiles {
 public:
  /// `path`: a tar archive, also compressed with gzip or zstd, or a folder. Errors: not_found, io,
  /// malformed, unsupported (compressed otherwise).
  [[nodiscard]] static Result<ImageFiles> open(const std::string& path);

  /// The archive alone. `where` names it in errors.
  [[nodiscard]] static Result<ImageFiles> of_archive(std::unique_ptr<wheel::ByteSource> source,
                                                     std::string where);

  /// A file by its name in the image; links within it are followed. Errors: not_found, io;
  /// malformed for what leads out.
  [[nodiscard]] Result<ByteRange> find(std::string_view name) const;
  /// Its text, of at most 16 MiB. Errors: as above, malformed.
  [[nodiscard]] Result<std::string> read_text(std::string_view name) const;
  [[nodiscard]] const std::string& where() const { return where_; }
  /// Then files are best read in the order of their offsets: for what lies before, all is unpacked
  /// from the beginning.
  [[nodiscard]] bool is_compressed() const { return compressed_; }

 private:
  struct Place {
    std::uint64_t offset;
    std::uint64_t size;
  };

  [[nodiscard]] Result<void> list_archive();
  [[nodiscard]] Result<void> take_members(ByteStream& stream);
  [[nodiscard]] Result<void> take_text(TarReader& tar, const TarMember& member);
  [[nodiscard]] Result<ByteRange> find_in_folder(std::string_view name) const;

  std::string where_;
  bool folder_ = false;
  bool compressed_ = false;
  std::shared_ptr<wheel::ByteSource> archive_;  ///< unpacked
  std::map<std::string, Place, std::less<>> places_;
  std::map<std::string, std::string, std::less<>> links_;
  /// Of a compressed archive: its small documents.
  std::map<std::string, std::string, std::less<>> texts_;
  std::uint64_t kept_ = 0;  ///< bytes of names and texts
};

/// A folder that is an image: an OCI layout or an unpacked docker archive.
[[nodiscard]] bool is_image_folder(const std::string& path);

}  // namespace axle::doctor
