#include "runtime/files/shard_index.h"

#include <utility>

#include "runtime/files/json_events.h"
#include "runtime/files/safetensors_header.h"

namespace axle::runtime {
namespace {

/// A file's name as an index may give it: in the folder itself.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name != "." && name != ".." &&
         name.find('\0') == std::string::npos;
}

/// {"weight_map": {tensor: file, …}, …}; what else there is does not matter.
class IndexEvents final : public JsonEvents {
 public:
  bool start_object() override {
    if (in_map_) return unwanted();
    in_map_ = depth_ == 1 && key_is_map_;
    ++depth_;
    return true;
  }
  bool end_object() override {
    --depth_;
    if (depth_ == 1) in_map_ = false;
    return true;
  }
  bool start_array() override {
    if (!unwanted()) return false;
    ++depth_;
    return true;
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool key(std::string& key) override {
    if (in_map_) {
      tensor_ = std::move(key);
      return true;
    }
    if (depth_ > 1) return true;
    key_is_map_ = key == "weight_map";
    if (key_is_map_ && std::exchange(has_map_, true))
      return stop(failure(AXLE_MALFORMED, "%s: \"weight_map\" is there twice", where()));
    return true;
  }
  bool string(std::string& file) override {
    if (!in_map_) return unwanted();
    if (!is_plain_name(file))
      return stop(failure(AXLE_MALFORMED, "%s: the file of tensor \"%s\" is no file's name: \"%s\"",
                          where(), tensor_.c_str(), file.c_str()));
    if (!files_.emplace(tensor_, std::move(file)).second)
      return stop(
          failure(AXLE_MALFORMED, "%s: tensor \"%s\" is there twice", where(), tensor_.c_str()));
    return true;
  }

  [[nodiscard]] bool has_map() const { return has_map_; }
  [[nodiscard]] std::map<std::string, std::string> take() { return std::move(files_); }

 private:
  /// A value of any kind, which is wrong in the map, instead of it, and instead of the whole.
  bool unwanted() override {
    if (depth_ == 0)
      return stop(failure(AXLE_MALFORMED, "%s: the index is no JSON object", where()));
    if (in_map_)
      return stop(failure(AXLE_MALFORMED, "%s: the file of tensor \"%s\" is no text", where(),
                          tensor_.c_str()));
    if (depth_ == 1 && key_is_map_)
      return stop(failure(AXLE_MALFORMED, "%s: \"weight_map\" is no JSON object", where()));
    return true;
  }

  std::map<std::string, std::string> files_;
  std::size_t depth_ = 0;
  bool key_is_map_ = false;  ///< the last key of the outermost object
  bool in_map_ = false;
  bool has_map_ = false;
  std::string tensor_;
};

}  // namespace

Result<std::map<std::string, std::string>> parse_shard_index(std::string_view text,
                                                             const std::string& path) {
  if (text.size() > largest_safetensors_header)
    return failure(AXLE_MALFORMED, "%s: an index of %zu bytes is too large", path.c_str(),
                   text.size());
  IndexEvents events;
  const Result<void> read = events.read(text, path);
  if (!read) return std::unexpected(read.error());
  if (!events.has_map())
    return failure(AXLE_MALFORMED, "%s: there is no \"weight_map\"", path.c_str());
  return events.take();
}

}  // namespace axle::runtime
