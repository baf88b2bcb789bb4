#include "binaries/cut/library_cut.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "binaries/cut/bundle_cut.h"
#include "binaries/cut/elf_image.h"
#include "binaries/cut/elf_references.h"
#include "binaries/cut/elf_shrink.h"

namespace axle::binaries {
namespace {

constexpr std::string_view cuda_sections[] = {".nv_fatbin", "__nv_relfatbin"};
constexpr std::string_view hip_sections[] = {".hip_fatbin"};

using CutBytes = std::function<Result<CutSection>(std::string_view)>;

/// The indices of the sections of those names, in the order of the file.
std::vector<std::size_t> find_sections(const ElfImage& image,
                                       std::span<const std::string_view> names) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < image.sections.size(); ++i) {
    const Elf64_Shdr& section = image.sections[i];
    const bool named = std::ranges::find(names, image.name_of(section)) != names.end();
    if (named && !image.bytes_of(section).empty()) found.push_back(i);
  }
  std::ranges::sort(found, {}, [&](std::size_t i) { return image.sections[i].sh_offset; });
  return found;
}

Result<CutLibrary> cut_image(const ElfImage& image, std::span<const std::string_view> names,
                             const CutBytes& cut_bytes) {
  std::vector<SectionToCut> cuts;
  CutLibrary library;
  for (const std::size_t i : find_sections(image, names)) {
    const Elf64_Shdr& section = image.sections[i];
    auto cut = cut_bytes(image.bytes_of(section));
    if (!cut)
      return std::unexpected(within(std::string(image.name_of(section)), std::move(cut).error()));
    library.counts.add(cut->counts);
    cuts.push_back({i, std::move(*cut)});
  }
  if (library.counts.removed == 0) {
    library.bytes = image.file;
    return library;
  }
  const auto patches = moved_references(image, cuts);
  if (!patches) return std::unexpected(patches.error());
  auto bytes = shrink_elf(image, cuts, *patches);
  if (!bytes) return std::unexpected(std::move(bytes).error());
  library.bytes = std::move(*bytes);
  return library;
}

Result<CutLibrary> cut_file(std::string_view file, std::span<const std::string_view> names,
                            const CutBytes& cut_bytes, std::string_view where) {
  const auto image = read_elf_image(file);
  if (!image) return std::unexpected(within(std::string(where), image.error()));
  auto cut = cut_image(*image, names, cut_bytes);
  if (!cut) return std::unexpected(within(std::string(where), std::move(cut).error()));
  return cut;
}

}  // namespace

Result<CutLibrary> cut_cuda_library(std::string_view file, const FatbinChoice& choice,
                                    std::string_view where) {
  return cut_file(
      file, cuda_sections, [&](std::string_view section) { return cut_fatbins(section, choice); },
      where);
}

Result<CutLibrary> cut_hip_library(std::string_view file, std::string_view processor,
                                   std::string_view where) {
  return cut_file(
      file, hip_sections, [&](std::string_view section) { return cut_bundles(section, processor); },
      where);
}

Result<std::vector<std::string>> library_processors(std::string_view file, std::string_view where) {
  const auto image = read_elf_image(file);
  if (!image) return std::unexpected(within(std::string(where), image.error()));
  std::set<std::string> all;
  for (const std::size_t i : find_sections(*image, hip_sections)) {
    auto found = bundled_processors(image->bytes_of(image->sections[i]));
    if (!found) return std::unexpected(within(std::string(where), std::move(found).error()));
    all.insert(found->begin(), found->end());
  }
  return std::vector<std::string>(all.begin(), all.end());
}

}  // namespace axle::binaries
