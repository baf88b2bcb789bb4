#include "binaries/binary_scan.h"

#include <algorithm>
#include <span>

#include <elf.h>
#include <fmt/format.h>

#include "binaries/elf_source.h"
#include "foundation/elf/elf_dynamic.h"
#include "foundation/elf/elf_tables.h"

namespace axle::binaries {
namespace {

/// Parts of the names of functions and variables that check the CPU: those of libgcc and
/// compiler-rt, glibc, and of FFmpeg, cpuinfo, cpu_features and similar.
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

/// `name` without control characters.
std::string cleaned(std::string name) {
  std::erase_if(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
  return name;
}

class Scan {
 public:
  Scan(wheel::ByteSource& source, std::string_view where)
      : source_(source), bytes_(source_), where_(where) {}

  Result<BinaryFacts> run() {
    auto tables = elf::read_tables(bytes_);
    if (!tables) return std::unexpected(bytes_.error(tables.error(), where_));
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

  Result<void> read_dynamic() {
    const auto dynamic = elf::read_dynamic(bytes_, tables_);
    if (!dynamic) return std::unexpected(bytes_.error(dynamic.error(), where_));
    if (dynamic->missing() == elf::Dynamic::Missing::entries) unread(".dynamic", "it is too large");
    if (dynamic->missing() == elf::Dynamic::Missing::names)
      unread(".dynstr", "the names of libraries are not where they are expected");
    for (std::string& name : dynamic->names(DT_NEEDED))
      facts_.needed.push_back(cleaned(std::move(name)));
    for (std::string& name : dynamic->names(DT_SONAME)) facts_.soname = cleaned(std::move(name));
    for (std::string& path : dynamic->names(DT_RPATH))
      facts_.rpath = split_path(cleaned(std::move(path)));
    for (std::string& path : dynamic->names(DT_RUNPATH))
      facts_.runpath = split_path(cleaned(std::move(path)));
    facts_.names_cpu_question = std::ranges::any_of(
        cpu_questions, [&](std::string_view name) { return dynamic->strings().contains(name); });
    return {};
  }

  Result<void> read_properties() {
    const elf::Section* section = tables_.find(".note.gnu.property");
    if (section == nullptr || tables_.machine != EM_X86_64) return {};
    if (section->size > elf::largest_elf_notes) {
      unread(section->name, "it is too large");
      return {};
    }
    const auto notes = bytes_.range(section->offset, section->size);
    if (!notes) return std::unexpected(bytes_.error(notes.error(), where_));
    facts_.isa = elf::parse_isa_levels(*notes);
    return {};
  }

  Result<void> read_gpu_code() {
    if (tables_.sections.empty()) unread("", "it has no section table: GPU code cannot be found");
    const bool large_data = tables_.find(".nv_fatbin") != nullptr;
    for (const elf::Section& section : tables_.sections) {
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
  static bool is_large_data(const elf::Section& section) {
    return section.name == ".ldata" || section.name == ".lrodata";
  }

  Result<void> read_cuda(const elf::Section& section) {
    auto found = read_cuda_fatbins(source_, section.offset, section.size);
    if (!found) return std::unexpected(std::move(found).error());
    if (!found->stopped.empty()) unread(section.name, found->stopped);
    add_fatbins(facts_.cuda, std::move(*found));
    return {};
  }

  Result<void> read_hip(const elf::Section& section) {
    auto found = read_offload_bundles(source_, section.offset, section.size);
    if (!found) return std::unexpected(std::move(found).error());
    facts_.hip = std::move(*found);
    if (!facts_.hip.stopped.empty()) unread(section.name, facts_.hip.stopped);
    return {};
  }

  CountingSource source_;
  ElfSource bytes_;
  std::string_view where_;
  elf::Tables tables_;
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
