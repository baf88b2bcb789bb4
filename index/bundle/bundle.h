#pragma once
// A bundle: a static index (index/publish/static_index.h) in one file, an archive whose files are
// stored as they are, with the list of their hashes (wheel/bundle/bundle_list.h) and a signature on
// that list. Nothing in it is used that the list does not have.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/http/transport.h"
#include "wheel/bundle/allowed_signers.h"
#include "wheel/bundle/bundle_list.h"
#include "wheel/zip/zip_reader.h"

namespace axle::index {

/// What the signatures of bundles are for (`ssh-keygen -Y sign -n axle-bundle`).
inline constexpr std::string_view bundle_namespace = "axle-bundle";

/// Who must have signed a bundle.
struct BundleTrust {
  std::vector<wheel::AllowedSigner> signers = {};
  std::string origin = {};  ///< who names them; empty: nobody, and any bundle is taken
  std::int64_t now = 0;     ///< seconds since 1970
};

class Bundle {
 public:
  /// Checks the signature first, then that the archive has exactly the files of the list, then the
  /// hash of each. Errors, all with the path and the reason: not_found, io, malformed, mismatch,
  /// unsupported (a kind of signature).
  [[nodiscard]] static Result<std::shared_ptr<const Bundle>> open(const std::string& path,
                                                                  const BundleTrust& trust);

  /// Of the index in it, and of all its files: "bundle:///srv/needs.zip/simple/".
  [[nodiscard]] std::string index_url() const;
  /// Who signed it, as the allowed signers name them; empty if nobody was asked for.
  [[nodiscard]] const std::string& signer() const { return signer_; }
  /// The fingerprint of the key that signed it; empty: it is not signed.
  [[nodiscard]] const std::string& key() const { return key_; }
  [[nodiscard]] const std::vector<wheel::BundleMember>& members() const { return members_; }

  /// The URL of the wheel with this sha256; empty: none has it.
  [[nodiscard]] std::string wheel_with(std::string_view sha256) const;
  /// Whether the URL is that of something in it, which need not be there.
  [[nodiscard]] bool has_place(std::string_view url) const;
  /// Answers like a server. A whole file is compared with the list once more: the bundle may have
  /// been changed since it was opened. Errors: mismatch, io, and those of `sink`.
  [[nodiscard]] Result<HttpResponse> answer(const HttpRequest& request, const BodySink* sink) const;

 private:
  Bundle(std::string path, std::shared_ptr<wheel::ByteSource> source, wheel::ZipReader archive)
      : path_(std::move(path)), source_(std::move(source)), archive_(std::move(archive)) {}
  [[nodiscard]] Result<std::string> read_list() const;
  [[nodiscard]] Result<void> check_signature(const std::string& list, const BundleTrust& trust);
  [[nodiscard]] Result<void> compare_files() const;
  [[nodiscard]] Result<void> check_hashes() const;
  [[nodiscard]] Result<void> read(const wheel::BundleMember& member, const BodySink& sink) const;
  [[nodiscard]] const wheel::BundleMember* find(std::string_view url) const;

  std::string path_;  ///< absolute
  std::shared_ptr<wheel::ByteSource> source_;
  wheel::ZipReader archive_;
  std::vector<wheel::BundleMember> members_;
  std::string signer_;
  std::string key_;
};

/// Whether the file at `path` is a bundle, whatever it has in it: it may be replaced by another.
[[nodiscard]] bool is_bundle(const std::string& path);

/// Asks `bundle` for what is in it, and `inner` for everything else.
[[nodiscard]] std::unique_ptr<Transport> make_bundle_transport(
    std::unique_ptr<Transport> inner, std::shared_ptr<const Bundle> bundle);

}  // namespace axle::index
