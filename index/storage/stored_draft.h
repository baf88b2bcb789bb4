#pragma once
// What is to be written to a storage, and in which order.

#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "index/publish/index_place.h"
#include "index/storage/storage_client.h"

namespace axle::index {

class StoredDraft final : public IndexDraft {
 public:
  /// `storage` must outlive it. `is_ours`: it has an index.
  StoredDraft(StorageClient& storage, bool goes_on, bool is_ours)
      : storage_(storage), goes_on_(goes_on), is_ours_(is_ours) {}

  [[nodiscard]] Result<void> write(std::string_view path, std::string_view content) override;
  [[nodiscard]] Result<void> copy(const std::string& file, std::string_view path,
                                  std::string_view sha256) override;
  /// Not called: published files are there.
  [[nodiscard]] Result<void> link(const std::string& file, std::string_view path) override;
  void leave_out(std::string_view path) override { left_out_.emplace(path); }
  [[nodiscard]] bool keeps_published() const override { return true; }
  /// Files, then the pages of projects, then those of the index; then what is left out goes.
  [[nodiscard]] Result<void> put_in_place(Report& report) override;

 private:
  struct Object {
    std::string key;
    ObjectBody body;
  };
  [[nodiscard]] Result<void> send_all(const std::vector<Object>& objects);
  [[nodiscard]] Result<void> send(const Object& object);
  [[nodiscard]] Result<void> send_bytes(const Object& object);
  [[nodiscard]] Result<void> send_large(const Object& object);
  [[nodiscard]] Result<void> remove_left_out();
  void count(std::uint64_t bytes);

  StorageClient& storage_;
  bool goes_on_;
  bool is_ours_;
  std::vector<Object> files_;
  std::vector<Object> pages_;
  std::vector<Object> roots_;
  std::set<std::string> left_out_;
  std::mutex mutex_;  ///< protects what follows while objects are sent
  Report* report_ = nullptr;
  std::uint64_t sent_ = 0;
  std::uint64_t total_ = 0;
  bool no_folder_keys_ = false;
};

}  // namespace axle::index
