#include "binaries/binary_scan.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <elf.h>
#include <fmt/format.h>

#include "binaries/elf_sections.h"

namespace axle::binaries {
namespace {

constexpr std::uint64_t largest_dynamic = 1U << 20;  // bytes
constexpr std::size_t most_needed = 4096;
constexpr std::size_t longest_path = 4096;

/// Parts of the names of what tells which CPU it is: libgcc's and compiler-rt's own, glibc's, and
/// those of FFmpeg, cpuinfo, cpu_features and their like.
constexpr std::string_view cpu_questions[] = {
    "__cpu_model", "__cpu_indicator", "__cpu_features", "getauxval", "cpu_flags", "cpu_feature",
    "CpuFeature",  "cpuid",           "cpu_support",    "cpuinfo",   "CpuInfo",   "cpu_caps",
};

/// Counts what is read.
class CountingSource final : public wheel::ByteSource {
 public:
  explicit CountingSource(wheel::ByteSource& source) : source_(source) {}
  [[nodiscard]] std::uint64_t size() const override { return source_.size(); }
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) override {
    count_ += out.size();
    return source_.read(offset, out);
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }

 private:
  wheel::ByteSource& source_;
  std::uint64_t count_ = 0;
};

std::string architecture_of(std::uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86_64";
    case EM_AARCH64:
      return "aarch64";
    default:
      return fmt::format("machine {}", machine);
  }
}

std::vector<std::string> split_path(std::string_view text) {
  std::vector<std::string> folders;
  while (!text.empty()) {
    const std::size_t end = text.find(':');
    if (end != 0) folders.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return folders;
}

class Scan {
 public:
  Scan(wheel::ByteSource& source, std::string_view where) : source_(source), where_(where) {}

  Result<BinaryFacts> run() {
    auto tables = read_elf_tables(source_, where_);
    if (!tables) return std::unexpected(std::move(tables).error());
    tables_ = std::move(*tables);
    facts_.architecture = architecture_of(tables_.machine);
    facts_.size = source_.size();
    for (const auto step : {&Scan::read_dynamic, &Scan::read_properties, &Scan::read_gpu_code}) {
      if (auto done = (this->*step)(); !done) return std::unexpected(std::move(done).error());
    }
    facts_.bytes_read = source_.count();
    return std::move(facts_);
  }

 private:
  void unread(std::string_view section, std::string why) {
    facts_.unread.push_back({std::string(section), std::move(why)});
  }

  /// As the loader finds it: by the segment, which a stripped file has too.
  Result<void> read_dynamic() {
    const auto segment =
        std::ranges::find(tables_.segments, std::uint32_t{PT_DYNAMIC}, &ElfSegment::type);
    if (segment == tables_.segments.end()) return {};
    if (segment->size > largest_dynamic) {
      unread(".dynamic", "it is larger than any");
      return {};
    }
    auto bytes = read_range(source_, segment->offset, segment->size, where_);
    if (!bytes) return std::unexpected(std::move(bytes).error());
    std::vector<Elf64_Dyn> entries(bytes->size() / sizeof(Elf64_Dyn));
    if (!entries.empty())
      std::memcpy(entries.data(), bytes->data(), entries.size() * sizeof(Elf64_Dyn));
    const auto end = std::ranges::find(entries, std::int64_t{DT_NULL}, &Elf64_Dyn::d_tag);
    entries.erase(end, entries.end());
    return read_names(entries);
  }

  Result<void> read_names(const std::vector<Elf64_Dyn>& entries) {
    std::uint64_t address = 0;
    std::uint64_t size = 0;
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_STRTAB) address = entry.d_un.d_ptr;
      if (entry.d_tag == DT_STRSZ) size = entry.d_un.d_val;
    }
    const auto segment = std::ranges::find_if(tables_.segments, [&](const ElfSegment& one) {
      return one.type == PT_LOAD && address >= one.address && address - one.address < one.size;
    });
    if (segment == tables_.segments.end() || size > largest_elf_table) {
      if (!entries.empty())
        unread(".dynstr", "the names of libraries are not where they should be");
      return {};
    }
    const std::uint64_t inside = address - segment->address;
    auto strings = read_range(source_, segment->offset + inside,
                              std::min(size, segment->size - inside), where_);
    if (!strings) return std::unexpected(std::move(strings).error());
    for (const Elf64_Dyn& entry : entries) add_name(entry, *strings);
    facts_.names_cpu_question = std::ranges::any_of(
        cpu_questions, [&](std::string_view name) { return strings->contains(name); });
    return {};
  }

  void add_name(const Elf64_Dyn& entry, std::string_view strings) {
    const std::uint64_t at = entry.d_un.d_val;
    const bool named = entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME ||
                       entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
    if (!named || at >= strings.size()) return;
    std::string_view text = strings.substr(at);
    text = text.substr(0, std::min(text.find('\0'), longest_path));
    std::string name(text);
    std::erase_if(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (entry.d_tag == DT_SONAME) facts_.soname = name;
    if (entry.d_tag == DT_RPATH) facts_.rpath = split_path(name);
    if (entry.d_tag == DT_RUNPATH) facts_.runpath = split_path(name);
    if (entry.d_tag == DT_NEEDED && facts_.needed.size() < most_needed)
      facts_.needed.push_back(std::move(name));
  }

  Result<void> read_properties() {
    const ElfSection* section = tables_.find(".note.gnu.property");
    if (section == nullptr || tables_.machine != EM_X86_64) return {};
    if (section->size > elf::largest_elf_notes) {
      unread(section->name, "it is larger than any");
      return {};
    }
    auto bytes = read_range(source_, section->offset, section->size, where_);
    if (!bytes) return std::unexpected(std::move(bytes).error());
    facts_.isa = elf::parse_isa_levels(*bytes);
    return {};
  }

  Result<void> read_gpu_code() {
    if (tables_.sections.empty()) unread("", "it has no section table: code for GPUs is not found");
    const bool large_data = tables_.find(".nv_fatbin") != nullptr;
    for (const ElfSection& section : tables_.sections) {
      if (section.size == 0) continue;
      Result<void> done;
      if (section.name == ".nv_fatbin" || (large_data && is_large_data(section)))
        done = read_cuda(section);
      if (section.name == "__nv_relfatbin") facts_.cuda_relocatable = true;
      if (section.name == ".hip_fatbin") done = read_hip(section);
      if (section.name.starts_with(sycl_section_prefix)) {
        done = read_sycl_section(source_, section.name, section.offset, section.size, facts_.sycl);
      }
      if (!done) return done;
    }
    if (!facts_.sycl.stopped.empty()) unread("sycl images", facts_.sycl.stopped);
    return {};
  }

  /// cuFFT 12 has most of its fatbins in the sections of the large code model (measured).
  static bool is_large_data(const ElfSection& section) {
    return section.name == ".ldata" || section.name == ".lrodata";
  }

  Result<void> read_cuda(const ElfSection& section) {
    auto found = read_cuda_fatbins(source_, section.offset, section.size);
    if (!found) return std::unexpected(std::move(found).error());
    if (!found->stopped.empty()) unread(section.name, found->stopped);
    add_fatbins(facts_.cuda, std::move(*found));
    return {};
  }

  Result<void> read_hip(const ElfSection& section) {
    auto found = read_offload_bundles(source_, section.offset, section.size);
    if (!found) return std::unexpected(std::move(found).error());
    facts_.hip = std::move(*found);
    if (!facts_.hip.stopped.empty()) unread(section.name, facts_.hip.stopped);
    return {};
  }

  CountingSource source_;
  std::string_view where_;
  ElfTables tables_;
  BinaryFacts facts_;
};

}  // namespace

Result<BinaryFacts> scan_binary(wheel::ByteSource& source, std::string_view where) {
  return Scan(source, where).run();
}

Result<BinaryFacts> scan_binary_file(const std::string& path) {
  auto source = wheel::open_file_source(path);
  if (!source) return std::unexpected(std::move(source).error());
  return scan_binary(**source, path);
}

}  // namespace axle::binaries
