#include "builder/repack/repack.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "binaries/binary_scan.h"
#include "binaries/cut/library_cut.h"
#include "builder/build_progress.h"
#include "builder/repack/added_properties.h"
#include "builder/repack/gpu_architectures.h"
#include "builder/repack/source_wheel.h"
#include "builder/trees/output_folder.h"
#include "foundation/elf/elf_tables.h"
#include "foundation/system/parallel.h"
#include "wheel/hash/sha256.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

Result<OutputFolder> open_folder(const RepackPlace& place) {
  return OutputFolder::open(place.out_folder.empty() ? "." : place.out_folder);
}

Result<void> check_label(const std::string& label) {
  if (wheel::is_valid_label(label)) return {};
  return fail(ErrorKind::malformed, fmt::format("\"{}\" is not a valid variant label", label),
              "a label has lower case letters, digits, \"_\" and \".\"");
}

Result<RepackedWheel> write_made(const OutputFolder& out, const SourceWheel::Made& made,
                                 const std::string& source) {
  RepackedWheel written;
  written.file = (fs::path(out.path()) / made.file_name).string();
  std::error_code absent;
  if (fs::equivalent(written.file, source, absent)) {
    return fail(ErrorKind::mismatch,
                fmt::format("{}: would be replaced by the wheel that is made of it", source),
                "name another folder with --out, or another label");
  }
  written.size = made.bytes.size();
  written.sha256 = wheel::render_hex(wheel::sha256(made.bytes));
  if (auto done = out.write(made.file_name, made.bytes, system::Flush::yes); !done)
    return std::unexpected(std::move(done).error());
  return written;
}

RepackedWheels result_of(const std::string& path) {
  std::error_code ignored;
  RepackedWheels result;
  result.source = path;
  result.source_size = fs::file_size(path, ignored);
  return result;
}

/// What a run that failed leaves is whole, and is said.
Error with_finished(Error error, const std::vector<RepackedWheel>& wheels) {
  if (wheels.empty()) return error;
  std::vector<std::string> names;
  for (const RepackedWheel& one : wheels) names.push_back(fs::path(one.file).filename().string());
  error.hint += fmt::format("{}written and whole {} {}", error.hint.empty() ? "" : "; ",
                            names.size() == 1 ? "is" : "are", fmt::join(names, ", "));
  return error;
}

/// Nothing of a member that is no library, or one of a format that is not read. Error: malformed,
/// of a library that is damaged or whose GPU code is, with the place.
Result<std::optional<binaries::BinaryFacts>> read_library(std::string_view content,
                                                          const std::string& where) {
  if (!elf::is_elf(content)) return std::nullopt;
  const auto source = wheel::memory_source(content);
  auto facts = binaries::scan_binary(*source, where);
  if (!facts && facts.error().kind == ErrorKind::unsupported) return std::nullopt;
  if (!facts) return std::unexpected(std::move(facts).error());
  if (auto whole = binaries::check_gpu_code(content, *facts, where); !whole)
    return std::unexpected(std::move(whole).error());
  return std::move(*facts);
}

constexpr std::uint64_t most_in_memory = 4ULL << 30;  ///< bytes of variants at once

/// A library with GPU code to cut.
struct FoundLibrary {
  std::string path;  ///< in the wheel
  std::uint64_t offset;
  std::uint64_t size;
  binaries::BinaryFacts facts;
  std::optional<Error> whole;  ///< why it cannot be cut
};

/// What became of one variant. None of the two: another one had failed before.
struct Attempt {
  std::optional<RepackedWheel> written;
  std::optional<Error> failure;
  std::map<std::string, Error> whole;  ///< libraries that could not be cut, and why
  CollectedReport said;
};

class Split {
 public:
  Split(const std::string& path, const SplitOptions& options, const RepackPlace& place,
        Report& report)
      : path_(path), options_(options), place_(place), report_(report) {}

  Result<RepackedWheels> run() {
    auto wheel = SourceWheel::open(path_, report_,
                                   [this](const wheel::ZipEntry& entry, std::string_view content) {
                                     return look_into(entry, content);
                                   });
    if (!wheel) return std::unexpected(std::move(wheel).error());
    std::ranges::sort(libraries_, {}, &FoundLibrary::offset);
    own_ = own_properties(wheel->file());
    const auto variants = find_variants();
    if (!variants) return std::unexpected(variants.error());
    const auto out = open_folder(place_);
    if (!out) return std::unexpected(out.error());
    RepackedWheels result = result_of(path_);
    auto attempts = write_variants(*wheel, *variants, *out);
    say_whole(attempts);
    std::optional<Error> failure;
    for (Attempt& one : attempts) {
      for (Remark& remark : one.said.remarks) report_.add(std::move(remark));
      if (one.written) result.wheels.push_back(std::move(*one.written));
      if (one.failure && !failure) failure = std::move(one.failure);
    }
    if (failure) return std::unexpected(with_finished(std::move(*failure), result.wheels));
    std::vector<binaries::BinaryFacts> before;
    for (FoundLibrary& library : libraries_) before.push_back(std::move(library.facts));
    auto machines = kept_machines(options_.by, before, *variants, own_);
    if (!machines) return std::unexpected(std::move(machines).error());
    for (KeptMachine& machine : *machines) {
      if (!machine.label.empty()) machine.label = label_for(wheel->file(), machine.label);
    }
    result.machines = std::move(*machines);
    return result;
  }

 private:
  /// "sm90"; of a wheel that is a variant already "cu13_sm90".
  static std::string label_for(const wheel::WheelFile& file, const std::string& architecture) {
    const std::string& label = file.name.label;
    return label.empty() ? architecture : label + "_" + architecture;
  }
  [[nodiscard]] bool is_sm() const { return options_.by == SplitBy::sm; }
  [[nodiscard]] std::string where(const std::string& library) const {
    return fmt::format("{}: {}", path_, library);
  }

  /// The architectures of a library. Called by several threads at once.
  Result<void> look_into(const wheel::ZipEntry& entry, std::string_view content) {
    const std::string& name = entry.name;
    auto read = read_library(content, where(name));
    if (!read) return std::unexpected(std::move(read).error());
    auto& facts = *read;
    if (!facts) return {};
    const bool gpu = is_sm() ? facts->cuda.fatbins > 0 : facts->hip.bundles > 0;
    const bool unread = !(is_sm() ? facts->cuda.stopped : facts->hip.stopped).empty();
    if (!gpu && !unread) return {};
    if (is_sm()) {
      const std::scoped_lock lock(guard_);
      for (const binaries::CudaGroup& group : facts->cuda.groups) {
        for (const binaries::CudaCode& code : group.codes) {
          if (code.kind == binaries::CudaCodeKind::cubin)
            names_.insert(std::to_string(code.architecture));
        }
      }
      libraries_.push_back({entry.name, entry.data_offset, entry.size, std::move(*facts), {}});
      return {};
    }
    auto processors = binaries::library_processors(content, where(name));
    const bool unknown = !processors && processors.error().kind == ErrorKind::unsupported;
    if (!processors && !unknown) return std::unexpected(std::move(processors).error());
    const std::scoped_lock lock(guard_);
    if (processors) names_.insert(processors->begin(), processors->end());
    libraries_.push_back({entry.name, entry.data_offset, entry.size, std::move(*facts),
                          unknown ? std::optional(processors.error()) : std::nullopt});
    return {};
  }

  /// Once of each library.
  void say_whole(const std::vector<Attempt>& attempts) {
    for (const FoundLibrary& library : libraries_) {
      const Error* why = library.whole ? &*library.whole : nullptr;
      for (const Attempt& one : attempts) {
        const auto found = one.whole.find(library.path);
        if (why == nullptr && found != one.whole.end()) why = &found->second;
      }
      if (why != nullptr)
        report_.warn(why->message + "; it stays whole in all variants", why->hint);
    }
  }

  Result<std::vector<GpuArchitecture>> find_variants() {
    const std::vector<std::string> names(names_.begin(), names_.end());
    const std::string_view what = is_sm() ? "compiled CUDA code" : "code for AMD GPUs";
    if (names.empty()) {
      return fail(ErrorKind::not_found,
                  fmt::format("{}: none of its libraries has {}", path_, what),
                  "`variant repack --label` gives a wheel a label without cutting it");
    }
    for (const wheel::Property& property : own_) {
      if (property.feature != (is_sm() ? "sm_arch" : "gfx_arch")) continue;
      return fail(ErrorKind::mismatch,
                  fmt::format("{}: it is a variant for {} already", path_,
                              wheel::render_property(property)),
                  "split the wheel that it was made of");
    }
    auto variants = split_architectures(options_.by, names, report_);
    if (!variants.empty()) return variants;
    return fail(ErrorKind::not_found, fmt::format("{}: no variant can be made of it", path_));
  }

  Result<binaries::CutLibrary> cut(const std::string& library, std::string_view content,
                                   const GpuArchitecture& one) const {
    if (!is_sm()) return binaries::cut_hip_library(content, one.name, where(library));
    return binaries::cut_cuda_library(content, {one.number, one.newest, options_.keep_ptx},
                                      where(library));
  }

  /// Several at once: what takes time is one library, deflated.
  [[nodiscard]] std::vector<Attempt> write_variants(const SourceWheel& wheel,
                                                    const std::vector<GpuArchitecture>& variants,
                                                    const OutputFolder& out) const {
    std::uint64_t largest = 0;
    for (const FoundLibrary& library : libraries_) largest = std::max(largest, library.size);
    // A library as it was and as it is, and the wheel.
    std::error_code unknown;
    const std::vector<std::uint64_t> sizes(variants.size(),
                                           2 * largest + fs::file_size(path_, unknown));
    const unsigned threads =
        system::threads_within(sizes, system::usable_processors(), most_in_memory);
    std::vector<Attempt> attempts(variants.size());
    std::atomic<std::size_t> done = 0;
    std::atomic<bool> failed = false;
    LockedReport locked(report_);
    system::for_each_at_once(variants.size(), threads, [&](std::size_t i) {
      if (failed) return;
      locked.progress({"cutting to " + variants[i].name, done, variants.size()});
      auto written = write_variant(wheel, variants[i], out, attempts[i]);
      if (written) {
        attempts[i].written = std::move(*written);
        ++done;
      } else {
        attempts[i].failure = std::move(written).error();
        failed = true;
      }
    });
    report_.progress({"cutting", done, variants.size()});
    return attempts;
  }

  Result<RepackedWheel> write_variant(const SourceWheel& wheel, const GpuArchitecture& one,
                                      const OutputFolder& out, Attempt& attempt) const {
    std::map<std::string, std::string> replaced;
    binaries::CutCounts counts;
    for (const FoundLibrary& library : libraries_) {
      if (library.whole) continue;
      const auto content = wheel.read(library.path);
      if (!content) return std::unexpected(content.error());
      auto done = cut(library.path, *content, one);
      if (!done && done.error().kind == ErrorKind::unsupported) {
        attempt.whole.emplace(library.path, done.error());
        continue;
      }
      if (!done) return std::unexpected(std::move(done).error());
      if (done->counts.containers != 0 && done->counts.fixed == done->counts.containers) {
        attempt.whole.emplace(
            library.path,
            Error{ErrorKind::unsupported,
                  where(library.path) + ": nothing is found that points at its GPU code",
                  {}});
      }
      counts.add(done->counts);
      if (done->counts.removed != 0) replaced[library.path] = std::move(done->bytes);
    }
    const std::string own_label = label_for(wheel.file(), one.label);
    wheel::VariantProperties properties = own_;
    properties.insert(one.properties.begin(), one.properties.end());
    const auto metadata = with_properties(wheel.file(), own_label, properties, options_.namespaces);
    if (!metadata) return std::unexpected(metadata.error());
    auto made = wheel.make(own_label, *metadata, replaced, place_.source_date_epoch, attempt.said);
    if (!made) return std::unexpected(std::move(made).error());
    auto written = write_made(out, *made, path_);
    if (!written) return written;
    written->label = own_label;
    written->properties = properties;
    written->architecture = one.name;
    written->counts = counts;
    return written;
  }

  const std::string& path_;
  const SplitOptions& options_;
  const RepackPlace& place_;
  Report& report_;
  std::mutex guard_;                     ///< of the next two, while the wheel is read
  std::vector<FoundLibrary> libraries_;  ///< in the order of the archive
  std::set<std::string> names_;
  wheel::VariantProperties own_;
};

}  // namespace

Result<RepackedWheels> relabel_wheel(const std::string& path, const RelabelOptions& options,
                                     const RepackPlace& place, Report& report) {
  if (auto valid = check_label(options.label); !valid)
    return std::unexpected(std::move(valid).error());
  const auto wheel = SourceWheel::open(
      path, report, [&](const wheel::ZipEntry& entry, std::string_view content) -> Result<void> {
        const auto read = read_library(content, fmt::format("{}: {}", path, entry.name));
        return read ? Result<void>() : std::unexpected(read.error());
      });
  if (!wheel) return std::unexpected(wheel.error());
  const wheel::VariantProperties own = own_properties(wheel->file());
  const wheel::VariantProperties& properties =
      options.properties.empty() ? own : options.properties;
  for (const wheel::Property& one : own) {
    if (!properties.contains(one))
      report.note(
          fmt::format("{}: its property {} is replaced", path, wheel::render_property(one)));
  }
  const bool null = options.label == wheel::null_label;
  if (null && !properties.empty()) {
    return fail(ErrorKind::mismatch, "the variant \"null\" has no properties",
                "give it another label, or no --property");
  }
  if (!null && properties.empty()) {
    return fail(
        ErrorKind::not_found,
        fmt::format("{}: nothing says which machines variant {} is for", path, options.label),
        "add --property 'NAMESPACE :: FEATURE :: VALUE', once or more");
  }
  if (null && !wheel->file().variant && options.namespaces.empty()) {
    return fail(ErrorKind::unsupported,
                fmt::format("{}: a plain wheel cannot become the variant \"null\" alone: its "
                            "metadata names the namespaces of the release's other variants",
                            path),
                "name them with --namespace-order; or publish it as it is: installers take a plain "
                "wheel where no variant fits");
  }
  const auto metadata =
      with_properties(wheel->file(), options.label, properties, options.namespaces);
  if (!metadata) return std::unexpected(metadata.error());
  const auto out = open_folder(place);
  if (!out) return std::unexpected(out.error());
  auto made = wheel->make(options.label, *metadata, {}, place.source_date_epoch, report);
  if (!made) return std::unexpected(std::move(made).error());
  auto written = write_made(*out, *made, path);
  if (!written) return std::unexpected(std::move(written).error());
  written->label = options.label;
  written->properties = properties;
  RepackedWheels result = result_of(path);
  result.wheels.push_back(std::move(*written));
  return result;
}

Result<RepackedWheels> split_wheel(const std::string& path, const SplitOptions& options,
                                   const RepackPlace& place, Report& report) {
  return Split(path, options, place, report).run();
}

}  // namespace axle::builder
