#include "doctor/audit/image/image_reading.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/core.h>

#include "doctor/audit/image/image_files.h"
#include "doctor/audit/image/image_manifest.h"
#include "foundation/system/parallel.h"

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
    take_libraries(layer);
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

  void take_libraries(LayerContent& layer) {
    std::unordered_map<std::string_view, std::size_t> last;
    for (std::size_t i = 0; i < layer.libraries.size(); ++i)
      last.insert_or_assign(layer.libraries_at[i], i);
    for (std::size_t i = 0; i < layer.libraries.size(); ++i) {
      const std::string& path = layer.libraries_at[i];
      if (last[path] == i && !is_hidden(covers_, path))
        add_library(image_, std::move(layer.libraries[i]));
    }
    image_.faults.insert(image_.faults.end(), layer.faults.begin(), layer.faults.end());
  }

  Audited& image_;
  Covers covers_;
};

/// The layers of one image, several at once.
Audited read_image(const ImageFiles& files, const SavedImage& saved, Report& report) {
  Audited image;
  image.kind = AuditedKind::image;
  image.place = files.where();
  image.title = saved.title;
  report.progress("auditing " + saved.title, 0, saved.layers.size());
  std::vector<std::optional<Result<LayerContent>>> read(saved.layers.size());
  const unsigned processors = system::usable_processors();
  system::for_each_at_once(saved.layers.size(), std::min(processors, 4U), [&](std::size_t i) {
    const ImageLayer& layer = saved.layers[i];
    auto range = files.find(layer.name);
    read[i] = range ? read_layer(std::move(*range), fmt::format("layer {}", layer.name),
                                 layer.sha256, processors)
                    : Result<LayerContent>(std::unexpected(std::move(range).error()));
  });
  std::vector<LayerContent> layers;
  for (auto& one : read) {
    if (*one) {
      layers.push_back(std::move(**one));
    } else {
      image.faults.push_back(one->error().message);
    }
  }
  lay_over_each_other(std::move(layers), image);
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
