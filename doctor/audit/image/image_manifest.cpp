#include "doctor/audit/image/image_manifest.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "foundation/documents/json_object.h"
#include "wheel/hash/sha256.h"

namespace axle::doctor {
namespace {

using documents::JsonObject;
using documents::JsonReading;

constexpr std::size_t most_layers = 1000;
constexpr std::size_t most_images = 200;
constexpr unsigned deepest_index = 4;

documents::JsonBounds bounds() {
  documents::JsonBounds bounds;
  bounds.longest_text = 64 << 10;
  bounds.most_items = most_layers;
  bounds.unknown_keys = true;
  return bounds;
}

/// A reference to a blob: "sha256:ab…".
struct Descriptor {
  std::string type;
  std::string digest;
  std::string platform;   ///< "linux/amd64"
  std::string reference;  ///< a name that its annotations give it
  bool attestation = false;
};

Descriptor read_descriptor(JsonObject& object) {
  Descriptor one;
  one.type = object.text("mediaType");
  one.digest = object.text("digest");
  object.part("platform", [&](JsonObject& platform) {
    const std::string system = platform.text("os");
    const std::string variant = platform.text("variant");
    one.platform = fmt::format("{}/{}{}{}", system, platform.text("architecture"),
                               variant.empty() ? "" : "/", variant);
    one.attestation = system == "unknown";
  });
  object.part("annotations", [&](JsonObject& annotations) {
    one.reference = annotations.text("io.containerd.image.name");
    if (one.reference.empty())
      one.reference = annotations.text("org.opencontainers.image.ref.name");
    one.attestation = one.attestation || annotations.has("vnd.docker.reference.type");
  });
  return one;
}

bool is_sha256(std::string_view digits) {
  return digits.size() == 64 && std::ranges::all_of(digits, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// "blobs/sha256/ab…"
Result<ImageLayer> blob_of(const Descriptor& descriptor, const std::string& where) {
  constexpr std::string_view algorithm = "sha256:";
  const std::string_view digits = std::string_view(descriptor.digest)
                                      .substr(std::min(algorithm.size(), descriptor.digest.size()));
  if (!descriptor.digest.starts_with(algorithm) || !is_sha256(digits))
    return fail(ErrorKind::malformed,
                fmt::format("{}: {} is not a valid sha256 digest", where, descriptor.digest));
  return ImageLayer{fmt::format("blobs/sha256/{}", digits), std::string(digits)};
}

/// Reads a document whose hash is known.
Result<std::string> read_blob(const ImageFiles& files, const ImageLayer& blob) {
  auto text = files.read_text(blob.name);
  if (!text) return text;
  if (wheel::render_hex(wheel::sha256(*text)) != blob.sha256)
    return fail(ErrorKind::mismatch,
                fmt::format("{}: {}: its sha256 is another one", files.where(), blob.name),
                "save or pull the image again");
  return text;
}

class OciLayout {
 public:
  explicit OciLayout(const ImageFiles& files) : files_(files) {}

  Result<std::vector<SavedImage>> run() {
    auto text = files_.read_text("index.json");
    if (!text) return std::unexpected(std::move(text).error());
    if (auto done = read_index(*text, "index.json", {}, 0); !done)
      return std::unexpected(std::move(done).error());
    return std::move(images_);
  }

 private:
  Result<void> read_index(const std::string& text, const std::string& name, const Descriptor& outer,
                          unsigned depth) {
    if (depth > deepest_index)
      return fail(ErrorKind::malformed,
                  fmt::format("{}: {}: indexes within indexes", files_.where(), name));
    auto found = read_descriptors(text, name, "manifests");
    if (!found) return std::unexpected(std::move(found).error());
    for (Descriptor& one : *found) {
      if (one.attestation) continue;
      if (one.reference.empty()) one.reference = outer.reference;
      if (auto done = read_manifest(one, depth); !done) return done;
    }
    return {};
  }

  Result<void> read_manifest(const Descriptor& descriptor, unsigned depth) {
    if (images_.size() == most_images)
      return fail(ErrorKind::unsupported,
                  fmt::format("{}: more than {} images", files_.where(), most_images));
    const auto blob = blob_of(descriptor, files_.where());
    if (!blob) return std::unexpected(blob.error());
    auto text = read_blob(files_, *blob);
    if (!text) return std::unexpected(std::move(text).error());
    if (descriptor.type.contains("image.index") || descriptor.type.contains("manifest.list"))
      return read_index(*text, blob->name, descriptor, depth + 1);
    auto found = read_descriptors(*text, blob->name, "layers");
    if (!found) return std::unexpected(std::move(found).error());
    SavedImage image;
    image.title = title_of(descriptor);
    for (const Descriptor& layer : *found) {
      auto one = blob_of(layer, files_.where());
      if (!one) return std::unexpected(std::move(one).error());
      image.layers.push_back(std::move(*one));
    }
    images_.push_back(std::move(image));
    return {};
  }

  Result<std::vector<Descriptor>> read_descriptors(const std::string& text, const std::string& name,
                                                   std::string_view key) const {
    const std::string where = fmt::format("{}: {}", files_.where(), name);
    const auto tree = documents::parse_json_tree(text, where);
    if (!tree) return std::unexpected(tree.error());
    JsonReading reading(where, "save or pull the image again", bounds());
    std::vector<Descriptor> found;
    JsonObject object(*tree, reading);
    object.each(key, [&](JsonObject& one) { found.push_back(read_descriptor(one)); });
    if (reading.error()) return std::unexpected(*reading.error());
    return found;
  }

  [[nodiscard]] std::string title_of(const Descriptor& descriptor) const {
    std::string title = descriptor.reference.empty() ? files_.where() : descriptor.reference;
    if (!descriptor.platform.empty()) title += fmt::format(" ({})", descriptor.platform);
    return title;
  }

  const ImageFiles& files_;
  std::vector<SavedImage> images_;
};

/// manifest.json of `docker save`: an array, which JsonObject reads as a member.
Result<std::vector<SavedImage>> read_docker_archive(const ImageFiles& files,
                                                    const std::string& text) {
  const std::string where = files.where() + ": manifest.json";
  const auto tree = documents::parse_json_tree("{\"images\":" + text + "}", where);
  if (!tree) return std::unexpected(tree.error());
  JsonReading reading(where, "save the image again", bounds());
  std::vector<SavedImage> images;
  JsonObject object(*tree, reading);
  object.each("images", [&](JsonObject& one) {
    SavedImage image;
    const documents::ListRule names{documents::any_text, true, true};
    // Of an image that was saved by its id it is null.
    const documents::JsonNode* given = one.find("RepoTags");
    const bool named = given != nullptr && given->kind == documents::JsonNode::Kind::array;
    const auto tags = named ? one.list("RepoTags", names) : std::vector<std::string>();
    image.title = tags.empty() ? files.where() : tags.front();
    for (std::string& layer : one.list("Layers", names)) {
      const std::string digits = layer.substr(layer.rfind('/') + 1);
      const bool blob = layer.starts_with("blobs/sha256/") && is_sha256(digits);
      image.layers.push_back({std::move(layer), blob ? digits : std::string()});
    }
    images.push_back(std::move(image));
  });
  if (reading.error()) return std::unexpected(*reading.error());
  return images;
}

}  // namespace

Result<std::vector<SavedImage>> read_saved_images(const ImageFiles& files) {
  // Newer ones of docker are both; its own manifest has the tags.
  const auto manifest = files.read_text("manifest.json");
  if (manifest) return read_docker_archive(files, *manifest);
  if (manifest.error().kind != ErrorKind::not_found) return std::unexpected(manifest.error());
  if (!files.find("oci-layout"))
    return fail(ErrorKind::malformed,
                fmt::format("{}: neither an OCI layout nor a docker archive: it has no oci-layout "
                            "and no manifest.json",
                            files.where()),
                "make one with `docker save`, or with skopeo copy … oci-archive:FILE");
  return OciLayout(files).run();
}

}  // namespace axle::doctor
