#include "binaries/cut/library_cut.h"

#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "binaries/cut/bundle_cut.h"
#include "binaries/cut/elf_image.h"
#include "binaries/cut/elf_references.h"
#include "binaries/cut/elf_shrink.h"

namespace axle::binaries {
namespace {

constexpr std::string_view cuda_sections[] = {".nv_fatbin", "__nv_relfatbin"};
constexpr std::string_view hip_sections[] = {".hip_fatbin"};

/// Cuts the bytes of a section, of which those before the given one stay.
using CutBytes = std::function<Result<CutSection>(std::string_view, std::uint64_t fixed)>;

/// Linkers make one or two.
constexpr std::size_t most_sections = 64;

/// The indices of the sections of those names, in the order of the file. Errors: unsupported, if
/// some lie over one another, as whose bytes would be read once for each.
Result<std::vector<std::size_t>> find_sections(const ElfImage& image,
                                               std::span<const std::string_view> names) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < image.sections.size(); ++i) {
    const Elf64_Shdr& section = image.sections[i];
    const bool named = std::ranges::find(names, image.name_of(section)) != names.end();
    if (named && !image.bytes_of(section).empty()) found.push_back(i);
  }
  if (found.size() > most_sections)
    return fail(ErrorKind::unsupported, "it has too many sections of GPU code");
  std::ranges::sort(found, {}, [&](std::size_t i) { return image.sections[i].sh_offset; });
  const auto overlap = std::ranges::adjacent_find(found, [&](std::size_t one, std::size_t next) {
    return image.sections[next].sh_offset - image.sections[one].sh_offset <
           image.sections[one].sh_size;
  });
  if (overlap != found.end())
    return fail(ErrorKind::unsupported, "its sections of GPU code overlap");
  return found;
}

class LibraryCut {
 public:
  LibraryCut(const ElfImage& image, std::vector<std::size_t> sections, const CutBytes& cut_bytes)
      : image_(image), sections_(std::move(sections)), cut_bytes_(cut_bytes) {}

  Result<CutLibrary> run() {
    std::vector<std::uint64_t> fixed(sections_.size(), 0);
    auto cuts = cut_sections(fixed);
    if (!cuts) return std::unexpected(std::move(cuts).error());
    auto references = moved_references(image_, *cuts);
    if (!references) return std::unexpected(std::move(references).error());
    if (!references->without.empty()) {
      // Linkers leave out the pointer to code that nobody uses: nvcc's stub for device linking.
      fix(references->without, *cuts, fixed);
      cuts = cut_sections(fixed);
      if (!cuts) return std::unexpected(std::move(cuts).error());
      references = moved_references(image_, *cuts);
      if (!references) return std::unexpected(std::move(references).error());
    }
    CutLibrary library;
    for (const SectionToCut& one : *cuts) library.counts.add(one.cut.counts);
    if (library.counts.removed == 0) {
      library.bytes = image_.file;
      return library;
    }
    auto bytes = shrink_elf(image_, *cuts, references->patches);
    if (!bytes) return std::unexpected(std::move(bytes).error());
    library.bytes = std::move(*bytes);
    return library;
  }

 private:
  [[nodiscard]] Result<std::vector<SectionToCut>> cut_sections(
      const std::vector<std::uint64_t>& fixed) const {
    std::vector<SectionToCut> cuts;
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      const Elf64_Shdr& section = image_.sections[sections_[i]];
      auto cut = cut_bytes_(image_.bytes_of(section), fixed[i]);
      if (!cut) {
        return std::unexpected(
            within(std::string(image_.name_of(section)), std::move(cut).error()));
      }
      cuts.push_back({sections_[i], std::move(*cut)});
    }
    return cuts;
  }

  /// All up to the last of these containers stays.
  void fix(const std::vector<std::uint64_t>& addresses, const std::vector<SectionToCut>& cuts,
           std::vector<std::uint64_t>& fixed) const {
    for (std::size_t i = 0; i < cuts.size(); ++i) {
      const std::uint64_t begin = image_.sections[cuts[i].index].sh_addr;
      for (const MovedContainer& container : cuts[i].cut.containers) {
        if (std::ranges::binary_search(addresses, begin + container.offset))
          fixed[i] = std::max(fixed[i], container.offset + 1);
      }
    }
  }

  const ElfImage& image_;
  std::vector<std::size_t> sections_;
  const CutBytes& cut_bytes_;
};

Result<CutLibrary> cut_file(std::string_view file, std::span<const std::string_view> names,
                            const CutBytes& cut_bytes, std::string_view where) {
  const auto image = read_elf_image(file);
  if (!image) return std::unexpected(within(std::string(where), image.error()));
  auto sections = find_sections(*image, names);
  if (!sections) return std::unexpected(within(std::string(where), std::move(sections).error()));
  auto cut = LibraryCut(*image, std::move(*sections), cut_bytes).run();
  if (!cut) return std::unexpected(within(std::string(where), std::move(cut).error()));
  return cut;
}

}  // namespace

Result<CutLibrary> cut_cuda_library(std::string_view file, const FatbinChoice& choice,
                                    std::string_view where) {
  return cut_file(
      file, cuda_sections,
      [&](std::string_view section, std::uint64_t fixed) {
        return cut_fatbins(section, choice, fixed);
      },
      where);
}

Result<CutLibrary> cut_hip_library(std::string_view file, std::string_view processor,
                                   std::string_view where) {
  return cut_file(
      file, hip_sections,
      [&](std::string_view section, std::uint64_t fixed) {
        return cut_bundles(section, processor, fixed);
      },
      where);
}

Result<void> check_gpu_code(std::string_view file, const BinaryFacts& facts,
                            std::string_view where) {
  if (!facts.cuda.stopped.empty()) {
    const auto cut = cut_cuda_library(file, {}, where);
    if (!cut && cut.error().kind == ErrorKind::malformed) return std::unexpected(cut.error());
  }
  if (!facts.hip.stopped.empty()) {
    const auto cut = cut_hip_library(file, {}, where);
    if (!cut && cut.error().kind == ErrorKind::malformed) return std::unexpected(cut.error());
  }
  return {};
}

Result<std::vector<std::string>> library_processors(std::string_view file, std::string_view where) {
  const auto image = read_elf_image(file);
  if (!image) return std::unexpected(within(std::string(where), image.error()));
  const auto sections = find_sections(*image, hip_sections);
  if (!sections) return std::unexpected(within(std::string(where), sections.error()));
  std::set<std::string> all;
  for (const std::size_t i : *sections) {
    auto found = bundled_processors(image->bytes_of(image->sections[i]));
    if (!found) return std::unexpected(within(std::string(where), std::move(found).error()));
    all.insert(found->begin(), found->end());
  }
  return std::vector<std::string>(all.begin(), all.end());
}

}  // namespace axle::binaries
