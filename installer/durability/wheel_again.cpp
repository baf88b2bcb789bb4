#include "installer/durability/wheel_again.h"

#include <cerrno>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "installer/file_access.h"
#include "installer/file_hash.h"
#include "installer/store/store.h"
#include "plan/resolution.h"
#include "wheel/wheel_name.h"

namespace axle::installer {
namespace {

/// For a command that has no business with the network.
class NoTransport final : public index::Transport {
 public:
  Result<index::HttpResponse> fetch(const index::HttpRequest& request) override {
    return refuse(request);
  }
  Result<index::HttpResponse> download(const index::HttpRequest& request,
                                       const index::BodySink& /*sink*/) override {
    return refuse(request);
  }

 private:
  static std::unexpected<Error> refuse(const index::HttpRequest& request) {
    return fail(ErrorKind::io,
                fmt::format("the store has no intact copy, and this command downloads nothing ({})",
                            request.url));
  }
};

}  // namespace

Result<void> WheelAgain::take(const PromisedFile& file, const std::string& path) const {
  const auto tree = open_folder(fmt::format("{}/wheels/{}/tree", store_, wheel_.sha256));
  if (!tree) return std::unexpected(tree.error());
  const auto hash = hash_file(tree->get(), file.stored);
  if (!hash) return std::unexpected(hash.error());
  if (*hash != file.sha256) {
    return fail(ErrorKind::mismatch, fmt::format("the store's copy of {} is damaged", file.stored));
  }
  struct stat status = {};
  if (::fstatat(tree->get(), file.stored.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return std::unexpected(system_error("read", file.stored, errno));
  const unsigned mode = (file.executable ? 0777U : 0666U) & ~process_umask();
  const bool own = status.st_uid == ::geteuid() || status.st_uid == 0;
  if (own && (status.st_mode & 07777U) == mode &&
      ::linkat(tree->get(), file.stored.c_str(), AT_FDCWD, path.c_str(), 0) == 0)
    return {};
  return copy_file(tree->get(), file.stored, AT_FDCWD, path, file.executable);
}

Result<void> WheelAgain::acquire() {
  auto name = wheel::parse_wheel_name(wheel_.filename);
  if (!name) return std::unexpected(name.error());
  plan::ResolvedPackage package;
  package.name = wheel_.name;
  package.version = name->version;
  package.filename = wheel_.filename;
  package.wheel_name = std::move(*name);
  package.url = wheel_.url;
  package.hash = wheel::expected_sha256(wheel_.sha256);
  package.source = "the record of its installation";
  NoTransport none;
  const auto accept = [](const Manifest&, std::string_view) -> Result<void> { return {}; };
  auto acquired = acquire_wheel(store_, package, transport_ != nullptr ? *transport_ : none, accept,
                                EntryCheck::content, report_);
  if (!acquired) return std::unexpected(acquired.error());
  return {};
}

Result<void> WheelAgain::make(const PromisedFile& file, const std::string& path) {
  if (take(file, path)) return {};
  (void)::unlink(path.c_str());
  if (!acquired_) acquired_ = acquire();
  if (!*acquired_) return *acquired_;
  return take(file, path);
}

}  // namespace axle::installer
