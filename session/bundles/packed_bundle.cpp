#include "session/bundles/packed_bundle.h"

#include <cerrno>
#include <filesystem>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <unistd.h>

#include "foundation/system/descriptor.h"
#include "index/bundle/bundle.h"
#include "index/bundle/bundle_writer.h"
#include "installer/file_access.h"
#include "session/bundles/bundle_signing.h"

namespace axle::session {

Result<void> check_replaceable(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(path, error);
  if (status.type() == std::filesystem::file_type::not_found) return {};
  if (std::filesystem::is_regular_file(status) && index::is_bundle(path)) return {};
  return fail(ErrorKind::conflict, fmt::format("{} is there, and is not a bundle", path),
              "choose another file with --out, or move this one away");
}

Result<void> pack_bundle(const SavePlace& place) {
  const auto writer = index::BundleWriter::open(place.index);
  if (!writer) return std::unexpected(writer.error());
  std::string signature;
  if (!place.signing_key.empty()) {
    auto made = sign_bundle_list(writer->list(), place.signing_key, place.folder);
    if (!made) return std::unexpected(std::move(made).error());
    signature = *std::move(made);
  }
  const std::string draft = place.folder + "/bundle";
  ::unlink(draft.c_str());  // of a command that did not end
  if (auto written = writer->write(draft, signature); !written)
    return std::unexpected(std::move(written).error());
  if (auto free = check_replaceable(place.bundle); !free) return free;
  if (::rename(draft.c_str(), place.bundle.c_str()) != 0)
    return std::unexpected(installer::system_error("create", place.bundle, errno));
  const std::string parent = std::filesystem::path(place.bundle).parent_path().string();
  const system::Descriptor folder(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder && ::fsync(folder.get()) != 0)
    return std::unexpected(installer::system_error("write", parent, errno));
  return {};
}

}  // namespace axle::session
