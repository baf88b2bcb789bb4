#include "installer/environment/metadata_files.h"

#include <utility>

#include <sys/stat.h>

#include "foundation/text/ascii.h"
#include "installer/environment/evaluated_metadata.h"
#include "installer/file_access.h"

namespace axle::installer {
namespace {

constexpr std::uint64_t note_limit = 1U << 20;

/// A note beside the metadata: where it is kept here, and the most that it may have.
struct Note {
  const char* name;
  std::optional<std::string> MetadataFiles::* text;
  std::uint64_t limit;
};
constexpr Note notes[] = {{"/variant.json", &MetadataFiles::variant, note_limit * 16},
                          {"/axle-family.json", &MetadataFiles::family, note_limit},
                          {"/INSTALLER", &MetadataFiles::installer, note_limit},
                          {"/direct_url.json", &MetadataFiles::direct_url, note_limit}};

bool is_egg(const std::string& folder) { return text::ascii_lower(folder).ends_with(".egg-info"); }

}  // namespace

Result<std::string> find_metadata(const std::string& folder) {
  if (!is_egg(folder)) return folder + "/METADATA";
  const auto there = look_at(folder, Links::followed);
  if (!there) return std::unexpected(there.error());
  return *there && S_ISREG((*there)->st_mode) ? folder : folder + "/PKG-INFO";
}

Result<MetadataFiles> read_metadata_files(const std::string& folder) {
  const auto path = find_metadata(folder);
  if (!path) return std::unexpected(path.error());
  auto text = read_headers(*path, metadata_limit);
  if (!text) return std::unexpected(text.error());
  MetadataFiles files;
  files.metadata = std::move(*text);
  if (is_egg(folder)) return files;
  for (const Note& note : notes) {
    // What is stored for a family's build only counts where the wheel has no label of its own.
    if (note.text == &MetadataFiles::family && files.variant && !files.variant->empty()) continue;
    auto content = read_if_there(folder + note.name, note.limit);
    if (content) {
      files.*note.text = std::move(*content);
    } else if (content.error().kind == ErrorKind::io) {
      return std::unexpected(std::move(content.error()));
    }
  }
  const auto requested = look_at(folder + "/REQUESTED", Links::followed);
  if (!requested) return std::unexpected(requested.error());
  files.requested = requested->has_value();
  const auto record = look_at(folder + "/RECORD", Links::followed);
  if (!record) return std::unexpected(record.error());
  files.has_record = *record && S_ISREG((*record)->st_mode);
  return files;
}

Result<std::vector<std::string>> metadata_paths(const std::string& folder,
                                                const MetadataFiles& files) {
  auto metadata = find_metadata(folder);
  if (!metadata) return std::unexpected(metadata.error());
  std::vector<std::string> paths = {folder};
  if (*metadata != folder) paths.push_back(*std::move(metadata));
  for (const Note& note : notes) {
    if (files.*note.text) paths.push_back(folder + note.name);
  }
  return paths;
}

}  // namespace axle::installer
