#include "doctor/audit/image/image_reading.h"

#include <algorithm>
#include <condition_variable>
#include <iterator>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include "doctor/audit/image/image_files.h"
#include "doctor/audit/image/image_manifest.h"
#include "foundation/system/parallel.h"
#include "foundation/text/byte_size.h"

namespace axle::doctor {
namespace {

constexpr std::string_view whiteout = ".wh.";
constexpr std::string_view opaque = ".wh..wh..opq";

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }
std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

/// What upper layers make of a path for the lower ones.
struct Cover {
  bool hidden = false;  ///< the path itself: replaced or removed
  bool closed = false;  ///< everything below it
};

struct PathHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view path) const {
    return std::hash<std::string_view>{}(path);
  }
};
using Covers = std::unordered_map<std::string, Cover, PathHash, std::equal_to<>>;

bool is_hidden(const Covers& covers, std::string_view path) {
  if (const auto own = covers.find(path); own != covers.end() && own->second.hidden) return true;
  for (std::string_view above = parent_of(path);; above = parent_of(above)) {
    if (const auto cover = covers.find(above); cover != covers.end() && cover->second.closed)
      return true;
    if (above.empty()) return false;
  }
}

/// Takes the layers from the highest to the lowest, so that what is hidden is known at once.
class Stack {
 public:
  explicit Stack(Audited& image) : image_(image) {}

  void take(LayerContent layer) {
    Covers own;
    std::unordered_map<std::string_view, std::size_t> last;
    for (std::size_t i = 0; i < layer.entries.size(); ++i)
      last.insert_or_assign(layer.entries[i].path, i);
    for (std::size_t i = 0; i < layer.entries.size(); ++i)
      take_entry(layer.entries[i], last[layer.entries[i].path] == i, own);
    take_links(layer, last);
    take_libraries(layer);
    for (const LayerEntry& entry : layer.entries) {
      if (entry.kind != TarKind::hard_link) linked_.erase(entry.path);
    }
    for (auto& [path, cover] : own) {
      Cover& all = covers_[path];
      all.hidden = all.hidden || cover.hidden;
      all.closed = all.closed || cover.closed;
    }
  }

 private:
  /// `counts`: no later member of the layer has that name.
  void take_entry(const LayerEntry& entry, bool counts, Covers& own) {
    const std::string_view name = last_part(entry.path);
    if (name == opaque) {
      own[std::string(parent_of(entry.path))].closed = true;
      return;
    }
    if (name.starts_with(whiteout)) {
      std::string gone(parent_of(entry.path));
      if (!gone.empty()) gone += '/';
      gone += name.substr(whiteout.size());
      own[gone] = {true, true};
      return;
    }
    const bool seen = counts && !is_hidden(covers_, entry.path);
    if (entry.kind == TarKind::folder) {
      own.try_emplace(entry.path);
      return;
    }
    own[entry.path] = {true, true};
    if (!seen) {
      image_.hidden_size += entry.size;
      return;
    }
    image_.size += entry.size;
    image_.files.push_back(entry.path);
    if (entry.kind == TarKind::file) image_.sizes.push_back({image_.files.size() - 1, entry.size});
  }

  /// A hard link is the file itself, which may be seen under this name alone; it lies in this layer
  /// or in a lower one.
  void take_links(const LayerContent& layer,
                  const std::unordered_map<std::string_view, std::size_t>& last) {
    constexpr unsigned longest_chain = 16;
    for (const auto& [path, index] : last) {
      const LayerEntry& entry = layer.entries[index];
      if (entry.kind != TarKind::hard_link) continue;
      std::vector<std::string> names;
      if (auto before = linked_.extract(entry.path)) names = std::move(before.mapped());
      if (!is_hidden(covers_, path)) names.push_back(entry.path);
      std::string_view target = entry.link;
      for (unsigned i = 0; i < longest_chain; ++i) {
        const auto next = last.find(target);
        if (next == last.end() || layer.entries[next->second].kind != TarKind::hard_link) break;
        target = layer.entries[next->second].link;
      }
      std::vector<std::string>& all = linked_[std::string(target)];
      std::ranges::move(names, std::back_inserter(all));
    }
  }

  void take_libraries(LayerContent& layer) {
    std::unordered_map<std::string_view, std::size_t> last;
    for (std::size_t i = 0; i < layer.libraries.size(); ++i)
      last.insert_or_assign(layer.libraries_at[i], i);
    for (std::size_t i = 0; i < layer.libraries.size(); ++i) {
      const std::string& path = layer.libraries_at[i];
      if (last[path] != i) continue;
      if (is_hidden(covers_, path)) {
        const auto names = linked_.find(path);
        if (names == linked_.end() || names->second.empty()) continue;
        std::visit([&](auto& one) { one.path = std::ranges::min(names->second); },
                   layer.libraries[i]);
      }
      add_library(image_, std::move(layer.libraries[i]));
    }
    image_.faults.insert(image_.faults.end(), layer.faults.begin(), layer.faults.end());
  }

  Audited& image_;
  Covers covers_;
  /// By the path of a file that has not come yet: its other names that are seen.
  std::unordered_map<std::string, std::vector<std::string>> linked_;
};

/// Reads the layers of one image and lays them upon each other.
class ImageReader {
 public:
  ImageReader(const ImageFiles& files, const SavedImage& saved, Audited& image)
      : files_(files),
        layers_(saved.layers),
        image_(image),
        stack_(image),
        processors_(system::usable_processors()),
        read_(layers_.size()) {}

  void run() {
    if (files_.is_compressed()) {
      read_in_sequence();
    } else {
      read_at_once();
    }
    sort_libraries(image_);
  }

 private:
  /// Counted from the highest one.
  const ImageLayer& layer(std::size_t number) const { return layers_[layers_.size() - 1 - number]; }

  Result<LayerContent> read(std::size_t number) const {
    const ImageLayer& one = layer(number);
    auto range = files_.find(one.name);
    if (!range) return std::unexpected(std::move(range).error());
    return read_layer(std::move(*range), fmt::format("layer {}", one.name), one.sha256,
                      processors_);
  }

  void take(Result<LayerContent> content) {
    if (!content) {
      image_.faults.push_back(content.error().message);
      return;
    }
    names_ += content->names;
    if (names_ > most_image_names) {
      if (!full_)
        image_.faults.push_back(fmt::format("the names in its layers are longer than {} together",
                                            text::render_bytes(most_image_names)));
      full_ = true;
      return;
    }
    stack_.take(std::move(*content));
  }

  /// Several at once, but none much earlier than its turn: what a layer has is in memory until
  /// then.
  void read_at_once() {
    const unsigned readers = std::min(processors_, 4U);
    system::for_each_at_once(layers_.size(), readers, [&](std::size_t number) {
      {
        std::unique_lock lock(mutex_);
        turn_.wait(lock, [&] { return number < next_ + 2UL * readers || failed_; });
        if (failed_) return;
      }
      try {
        auto content = read(number);
        const std::lock_guard lock(mutex_);
        read_[number].emplace(std::move(content));
        for (; next_ < read_.size() && read_[next_]; ++next_) {
          take(std::move(*read_[next_]));
          read_[next_].reset();
        }
      } catch (...) {
        {
          const std::lock_guard lock(mutex_);
          failed_ = true;
        }
        turn_.notify_all();
        throw;
      }
      turn_.notify_all();
    });
  }

  /// In the order in which they lie in the archive, which is unpacked once more for it.
  void read_in_sequence() {
    std::vector<std::pair<std::uint64_t, std::size_t>> order;
    for (std::size_t number = 0; number < layers_.size(); ++number) {
      const auto range = files_.find(layer(number).name);
      order.emplace_back(range ? range->offset : 0, number);
    }
    std::ranges::sort(order);
    std::uint64_t names = 0;
    for (const auto& [offset, number] : order) {
      // What would be beyond the limit is not kept either.
      if (names > most_image_names) continue;
      auto content = read(number);
      if (content) names += content->names;
      read_[number].emplace(std::move(content));
    }
    for (auto& one : read_) {
      if (one) take(std::move(*one));
    }
    if (names > most_image_names && !full_)
      image_.faults.emplace_back("the names in its layers are too long together");
  }

  const ImageFiles& files_;
  const std::vector<ImageLayer>& layers_;
  Audited& image_;
  Stack stack_;
  unsigned processors_;
  std::vector<std::optional<Result<LayerContent>>> read_;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::size_t next_ = 0;  ///< those before are taken
  std::uint64_t names_ = 0;
  bool full_ = false;
  bool failed_ = false;
};

Audited read_image(const ImageFiles& files, const SavedImage& saved, Report& report) {
  Audited image;
  image.kind = AuditedKind::image;
  image.place = files.where();
  image.title = saved.title;
  report.progress({"auditing " + saved.title, 0, saved.layers.size()});
  ImageReader(files, saved, image).run();
  return image;
}

}  // namespace

void lay_over_each_other(std::vector<LayerContent> layers, Audited& image) {
  Stack stack(image);
  while (!layers.empty()) {
    stack.take(std::move(layers.back()));
    layers.pop_back();
  }
  sort_libraries(image);
}

Result<std::vector<Audited>> read_audited_images(const std::string& path, Report& report) {
  const auto files = ImageFiles::open(path);
  if (!files) return std::unexpected(files.error());
  const auto saved = read_saved_images(*files);
  if (!saved) return std::unexpected(saved.error());
  std::vector<Audited> images;
  for (const SavedImage& one : *saved) images.push_back(read_image(*files, one, report));
  return images;
}

}  // namespace axle::doctor
