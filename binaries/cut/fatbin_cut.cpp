#include "binaries/cut/fatbin_cut.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "binaries/cuda_fatbin.h"
#include "binaries/fatbin_format.h"
#include "detect/machine.h"
#include "providers/cuda_code.h"

namespace axle::binaries {
namespace {

using fatbin::EntryHeader;
using fatbin::Header;

struct FatbinEntry {
  CudaCode code;
  std::string_view bytes;  ///< its header, too
  bool without_functions = false;
  bool kept = false;
};

/// Which code one architecture runs.
class CudaTarget {
 public:
  explicit CudaTarget(unsigned architecture) {
    detect::Machine machine;
    machine.gpus.emplace_back();
    machine.gpus.front().arch = fmt::format("{}.{}", architecture / 10, architecture % 10);
    machine.gpus.front().usable = detect::Presence::present;
    for (providers::Feature& feature : providers::supported_gpu_code(machine, {})) {
      if (feature.name == "cuda_code") runs_ = std::move(feature.values);
    }
  }

  [[nodiscard]] bool runs(const CudaCode& code) const {
    if (code.kind == CudaCodeKind::other) return false;
    std::string value = std::to_string(code.architecture);
    if (code.target != 0) value += code.target;
    value += code.kind == CudaCodeKind::cubin ? "_real" : "_virtual";
    return std::ranges::find(runs_, value) != runs_.end();
  }

 private:
  std::vector<std::string> runs_;
};

template <class Record>
std::optional<Record> record_at(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(Record)) return std::nullopt;
  Record record;
  std::memcpy(&record, bytes.data() + at, sizeof(record));
  return record;
}

class FatbinCutter {
 public:
  FatbinCutter(std::string_view section, const FatbinChoice& choice, std::uint64_t fixed)
      : section_(section), choice_(choice), fixed_(fixed), target_(choice.architecture) {}

  Result<CutSection> run() {
    std::uint64_t at = 0;
    while (true) {
      auto next = skip_padding(at);
      if (!next) return std::unexpected(std::move(next).error());
      if (*next == section_.size()) return std::move(cut_);
      at = *next;
      auto end = cut_one(at);
      if (!end) return std::unexpected(std::move(end).error());
      at = *end;
    }
  }

 private:
  static std::unexpected<Error> refuse(std::uint64_t at, std::string_view problem) {
    return fail(ErrorKind::malformed, fmt::format("at byte {}: {}", at, problem));
  }

  /// The next byte that is not zero.
  Result<std::uint64_t> skip_padding(std::uint64_t at) const {
    const std::size_t next = section_.find_first_not_of('\0', at);
    if (next == std::string_view::npos) return section_.size();
    const auto header = record_at<Header>(section_, next);
    if (next % fatbin::alignment != 0 || !header || header->magic != fatbin::magic)
      return refuse(next, "the bytes are no fatbin");
    if (header->version != 1) {
      return fail(
          ErrorKind::unsupported,
          fmt::format("at byte {}: version {} of fatbins is unknown", next, header->version));
    }
    return next;
  }

  /// Where it ends.
  Result<std::uint64_t> cut_one(std::uint64_t at) {
    const Header header = *record_at<Header>(section_, at);
    const std::uint64_t left = section_.size() - at;
    if (header.header_size < sizeof(Header) || header.header_size > left ||
        header.size > left - header.header_size)
      return refuse(at, "a fatbin is longer than its section");
    const std::uint64_t end = at + header.header_size + header.size;
    auto entries = read_entries(at + header.header_size, end);
    if (!entries) return std::unexpected(std::move(entries).error());
    choose(*entries, at < fixed_);
    write(at, end, *entries);
    return end;
  }

  [[nodiscard]] Result<std::vector<FatbinEntry>> read_entries(std::uint64_t at,
                                                              std::uint64_t end) const {
    std::vector<FatbinEntry> entries;
    while (at < end) {
      const auto header = record_at<EntryHeader>(section_.substr(0, end), at);
      if (!header || header->header_size < sizeof(EntryHeader) || header->header_size > end - at ||
          header->size > end - at - header->header_size)
        return refuse(at, "a code object is longer than its fatbin");
      const std::uint64_t size = header->header_size + header->size;
      const auto bytes = section_.substr(at, size);
      const auto source = wheel::memory_source(bytes);
      entries.push_back({fatbin::code_of(*header), bytes,
                         fatbin::is_without_functions(*header, *source, header->header_size)});
      at += size;
    }
    return entries;
  }

  /// Marks the code of `kind` with the largest number, of what the target runs or of all. False:
  /// there is none.
  bool keep_newest(std::vector<FatbinEntry>& entries, CudaCodeKind kind, bool that_runs) const {
    const auto counts = [&](const FatbinEntry& entry) {
      return entry.code.kind == kind && (!that_runs || target_.runs(entry.code));
    };
    std::optional<unsigned> newest;
    for (const FatbinEntry& entry : entries) {
      if (counts(entry)) newest = std::max(newest.value_or(0), entry.code.architecture);
    }
    for (FatbinEntry& entry : entries) {
      if (newest && counts(entry) && entry.code.architecture == *newest) entry.kept = true;
    }
    return newest.has_value();
  }

  void choose(std::vector<FatbinEntry>& entries, bool fixed) {
    CutCounts counts;
    ++counts.containers;
    if (fixed) ++counts.fixed;
    if (keep_newest(entries, CudaCodeKind::cubin, true)) {
      const bool own = std::ranges::any_of(entries, [&](const FatbinEntry& entry) {
        return entry.kept && entry.code.architecture == choice_.architecture;
      });
      ++(own ? counts.own : counts.fallback);
    } else if (keep_newest(entries, CudaCodeKind::ptx, true)) {
      ++counts.compiled_later;
    } else {
      ++counts.none;
    }
    keep_newest(entries, CudaCodeKind::ltoir, true);
    if (choice_.newest_ptx) keep_newest(entries, CudaCodeKind::ptx, false);
    for (FatbinEntry& entry : entries) {
      const bool stays = entry.code.kind == CudaCodeKind::other ||
                         (choice_.all_ptx && entry.code.kind == CudaCodeKind::ptx);
      entry.kept = entry.kept || stays || fixed;
    }
    if (!entries.empty() && std::ranges::none_of(entries, &FatbinEntry::kept)) {
      std::ranges::min_element(entries, {}, [](const FatbinEntry& entry) {
        return entry.bytes.size();
      })->kept = true;
    }
    const auto kept = static_cast<std::size_t>(std::ranges::count_if(entries, &FatbinEntry::kept));
    // Of one whose objects are all empty, nvcc's stub, nothing is to be said.
    if (!entries.empty() && std::ranges::all_of(entries, &FatbinEntry::without_functions))
      counts = {};
    counts.kept = kept;
    counts.removed = entries.size() - kept;
    cut_.counts.add(counts);
  }

  void write(std::uint64_t at, std::uint64_t end, const std::vector<FatbinEntry>& entries) {
    std::string& content = cut_.content;
    content.resize(at < fixed_ ? at
                               : (content.size() + fatbin::alignment - 1) / fatbin::alignment *
                                     fatbin::alignment);
    const std::uint64_t begin = content.size();
    Header header = *record_at<Header>(section_, at);
    content += section_.substr(at, header.header_size);
    header.size = 0;
    for (const FatbinEntry& entry : entries) {
      if (!entry.kept) continue;
      content += entry.bytes;
      header.size += entry.bytes.size();
    }
    std::memcpy(content.data() + begin, &header, sizeof(header));
    cut_.containers.push_back({at, end - at, begin, content.size() - begin});
  }

  std::string_view section_;
  FatbinChoice choice_;
  std::uint64_t fixed_;
  CudaTarget target_;
  CutSection cut_;
};

}  // namespace

Result<CutSection> cut_fatbins(std::string_view section, const FatbinChoice& choice,
                               std::uint64_t fixed) {
  return FatbinCutter(section, choice, fixed).run();
}

}  // namespace axle::binaries
