#include "index/storage/s3_store.h"

#include <utility>

#include <fmt/format.h>

#include "index/storage/storage_client.h"
#include "index/storage/stored_draft.h"

namespace axle::index {
namespace {

class S3Store final : public ObjectStore {
 public:
  S3Store(StorageAccess access, std::unique_ptr<Transport> transport, bool goes_on)
      : name_(access.address.text()),
        client_(std::move(access), std::move(transport)),
        goes_on_(goes_on) {}

  const std::string& name() const override { return name_; }
  std::string url(std::string_view path) const override { return client_.url(path); }
  Transport& reader() override { return client_.reader(); }
  bool has_whole_files() const override { return false; }
  // Of two publishers, the JSON that comes first decides.
  bool may_lack_html() const override { return true; }
  Result<std::optional<StoredObject>> head(std::string_view path) override {
    return client_.head(path);
  }
  Result<std::optional<StoredText>> get(std::string_view path, std::uint64_t max_bytes) override {
    return client_.get(path, max_bytes);
  }
  Result<std::unique_ptr<IndexDraft>> begin(const ReadIndex& read, bool has_index) override;

 private:
  std::string name_;
  StorageClient client_;
  bool goes_on_;
};

Result<std::unique_ptr<IndexDraft>> S3Store::begin(const ReadIndex& read, bool has_index) {
  if (has_index) return std::make_unique<StoredDraft>(client_, read.etags, goes_on_, true);
  const auto taken = client_.has_any("simple/");
  if (!taken) return std::unexpected(taken.error());
  if (*taken) {
    return fail(ErrorKind::io,
                fmt::format("{}/simple has objects, but no simple/index.json of an index: they are "
                            "left as they are",
                            name_),
                "choose another prefix, or remove them");
  }
  return std::make_unique<StoredDraft>(client_, read.etags, goes_on_, false);
}

}  // namespace

std::unique_ptr<ObjectStore> make_s3_store(StorageAccess access,
                                           std::unique_ptr<Transport> transport, bool goes_on) {
  return std::make_unique<S3Store>(std::move(access), std::move(transport), goes_on);
}

}  // namespace axle::index
