#include "index/storage/dav_store.h"

#include <utility>

#include "index/storage/dav_client.h"
#include "index/storage/dav_draft.h"
#include "wheel/hash/sha256.h"

namespace axle::index {
namespace {

class DavStore final : public ObjectStore {
 public:
  DavStore(DavAccess access, std::unique_ptr<Transport> transport)
      : client_(std::move(access), std::move(transport)) {}

  const std::string& name() const override { return client_.name(); }
  std::string url(std::string_view path) const override { return client_.url(path); }
  Transport& reader() override { return client_.reader(); }
  bool has_whole_files() const override { return true; }
  bool may_lack_html() const override { return false; }
  Result<std::optional<StoredObject>> head(std::string_view path) override {
    const auto file = client_.head(path);
    if (!file) return std::unexpected(file.error());
    if (!*file) return std::nullopt;
    return StoredObject{{}, (*file)->size.value_or(0)};
  }
  /// The ETags of a server may be weak, or those of a moment: two contents have two hashes.
  Result<std::optional<StoredText>> get(std::string_view path, std::uint64_t max_bytes) override {
    auto text = client_.get(path, max_bytes);
    if (!text) return std::unexpected(std::move(text.error()));
    if (!*text) return std::nullopt;
    std::string hash = wheel::render_hex(wheel::sha256((*text)->text));
    return StoredText{std::move((*text)->text), std::move(hash)};
  }
  Result<std::unique_ptr<IndexDraft>> begin(const ReadIndex& read, bool has_index) override {
    return std::make_unique<DavDraft>(client_, read, has_index);
  }

 private:
  DavClient client_;
};

}  // namespace

std::unique_ptr<ObjectStore> make_dav_store(DavAccess access,
                                            std::unique_ptr<Transport> transport) {
  return std::make_unique<DavStore>(std::move(access), std::move(transport));
}

}  // namespace axle::index
