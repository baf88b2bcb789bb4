#pragma once
// The files of an image as it is saved: of an archive or of a folder, OCI layout or docker archive.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/audit/image/byte_stream.h"
#include "foundation/report/error.h"

namespace axle::doctor {

class ImageFiles {
 public:
  /// `path`: a tar archive that is not compressed, or a folder. Errors: not_found, io, malformed,
  /// unsupported (a compressed archive).
  [[nodiscard]] static Result<ImageFiles> open(const std::string& path);

  /// The archive alone. `where` names it in errors.
  [[nodiscard]] static Result<ImageFiles> of_archive(std::unique_ptr<wheel::ByteSource> source,
                                                     std::string where);

  /// A file by its name in the image. Errors: not_found, io; malformed for a name that leads out.
  [[nodiscard]] Result<ByteRange> find(std::string_view name) const;
  /// Its text, of at most 16 MiB. Errors: as above, malformed.
  [[nodiscard]] Result<std::string> read_text(std::string_view name) const;
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  struct Place {
    std::uint64_t offset;
    std::uint64_t size;
  };

  [[nodiscard]] Result<void> list_archive();

  std::string where_;
  bool folder_ = false;
  std::shared_ptr<wheel::ByteSource> archive_;
  std::map<std::string, Place, std::less<>> places_;
};

/// A folder that is an image: an OCI layout or an unpacked docker archive.
[[nodiscard]] bool is_image_folder(const std::string& path);

}  // namespace axle::doctor
