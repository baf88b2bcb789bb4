#include "installer/store/byte_code.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/system/parallel.h"
#include "foundation/system/program_run.h"
#include "installer/file_access.h"
#include "installer/file_hash.h"
#include "installer/store/entry_mark.h"
#include "installer/tree/byte_code_names.h"
#include "installer/work_folder.h"
#include "wheel/hash/sha256.h"

namespace axle::installer {
namespace {

// Source, byte code and the name for messages of each module, separated by NUL.
constexpr const char* compile_script = R"python(
import os, py_compile, sys
with open(sys.argv[1], "rb") as file:
    words = [os.fsdecode(word) for word in file.read().split(b"\0")[:-1]]
for source, target, name in zip(words[0::3], words[1::3], words[2::3]):
    try:
        py_compile.compile(source, cfile=target, dfile=name, doraise=True,
                           invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP)
    except (py_compile.PyCompileError, RecursionError, MemoryError):
        pass
)python";

/// A module takes milliseconds, the slowest known ones a few seconds.
constexpr std::chrono::seconds module_limit{60};
/// An interpreter starts in the time that some ten modules take.
constexpr std::size_t modules_at_once = 150;

struct Module {
  std::string source;  ///< absolute
  std::string target;
  std::string name;  ///< in the wheel
};

/// A wheel whose byte code is being made.
struct Making {
  std::size_t wheel;  ///< its number
  std::string made;   ///< folder of the new entry
};

/// Modules that are imported, not scripts, data or metadata.
bool is_module(std::string_view path, const std::string& dist_info) {
  if (!path.ends_with(".py")) return false;
  const std::string_view top = path.substr(0, path.find('/'));
  if (top == dist_info) return false;
  if (!top.ends_with(".data")) return true;
  const std::string_view inner = path.substr(std::min(top.size() + 1, path.size()));
  return inner.starts_with("purelib/") || inner.starts_with("platlib/");
}

/// A wheel that was unpacked again has modules of another time, for which other byte code counts.
std::string entry_of(const std::string& store, const WheelContents& wheel,
                     const ByteCodeKind& kind) {
  std::string times;
  for (const StoredFile& file : wheel.manifest.files) {
    if (is_module(file.path, wheel.manifest.dist_info))
      times.append(std::to_string(file.modified)).push_back(' ');
  }
  return fmt::format("{}/byte-code/{}-{}-{}-{}", store, wheel.sha256, kind.tag, kind.magic,
                     wheel::render_hex(wheel::sha256(times)).substr(0, 16));
}

class Compiler {
 public:
  Compiler(const Environment& environment, const WorkFolder& work, Report& report)
      : environment_(environment), work_(work), report_(report) {}

  Result<void> compile(const std::vector<Module>& modules) {
    const std::size_t batches = (modules.size() + modules_at_once - 1) / modules_at_once;
    std::atomic<std::size_t> done = 0;
    system::for_each_at_once(batches, system::usable_processors(), [&](std::size_t i) {
      const std::span<const Module> all(modules);
      const std::span<const Module> batch = all.subspan(
          i * modules_at_once, std::min(modules_at_once, modules.size() - i * modules_at_once));
      compile_batch(batch);
      const std::size_t so_far = done += batch.size();
      const std::lock_guard lock(mutex_);
      report_.progress({"compiling byte code", so_far, modules.size()});
    });
    if (!failed_.empty()) {
      report_.warn(
          fmt::format("not compiled, because the interpreter crashed or took longer than "
                      "{} s: {}",
                      module_limit.count(), fmt::join(failed_, ", ")));
    }
    if (error_) return std::unexpected(std::move(*error_));
    return {};
  }

 private:
  /// One that ends the interpreter is found by halves: the others are compiled all the same.
  void compile_batch(std::span<const Module> modules) {
    if (is_over()) return;
    const auto ran = run(modules);
    if (!ran) {
      const std::lock_guard lock(mutex_);
      if (!error_) error_ = ran.error();
    } else if (!*ran && modules.size() > 1) {
      compile_batch(modules.first(modules.size() / 2));
      compile_batch(modules.subspan(modules.size() / 2));
    } else if (!*ran) {
      const std::lock_guard lock(mutex_);
      failed_.push_back(modules.front().name);
    }
  }

  bool is_over() {
    const std::lock_guard lock(mutex_);
    return error_.has_value();
  }

  /// Whether the interpreter came to its end.
  Result<bool> run(std::span<const Module> modules) {
    std::string list;
    for (const Module& module : modules) {
      for (const std::string* word : {&module.source, &module.target, &module.name})
        list.append(*word).push_back('\0');
    }
    const std::string path = fmt::format("{}/modules-{}", work_.path(), ++lists_);
    if (auto written = create_file(AT_FDCWD, path, list, false); !written)
      return std::unexpected(written.error());
    // Isolated, without the environment's own startup code.
    const auto ran = system::run_program(
        {{environment_.python, "-I", "-S", "-W", "ignore", "-c", compile_script, path}},
        {.time_limit = module_limit + modules.size() * std::chrono::milliseconds(200),
         .errors = system::ErrorStream::dropped,
         .kills_leftovers = true,
         .child = {.dumps_core = false}});
    if (!ran)
      return std::unexpected(system_error("start", environment_.python, ran.error().value()));
    return !ran->timed_out && ran->exit_code == 0;
  }

  const Environment& environment_;
  const WorkFolder& work_;
  Report& report_;
  std::atomic<unsigned> lists_ = 0;
  std::mutex mutex_;  ///< of what follows
  std::vector<std::string> failed_;
  std::optional<Error> error_;
};

/// Whether the file begins as byte code of the module does that an interpreter of this kind takes:
/// its magic number, a comparison by time, the module's time and size, and more behind that.
bool is_byte_code_of(const Descriptor& tree, const std::string& path, const StoredFile& module,
                     const ByteCodeKind& kind) {
  const Descriptor file(
      ::openat(tree.get(), path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  std::array<unsigned char, 17> begin{};
  if (!file ||
      ::pread(file.get(), begin.data(), begin.size(), 0) != static_cast<ssize_t>(begin.size()))
    return false;
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value |= std::uint32_t{begin[at + i]} << (8 * i);
    return value;
  };
  std::string magic;
  for (std::size_t i = 0; i < 4; ++i) magic += fmt::format("{:02x}", begin[i]);
  return magic == kind.magic && number(4) == 0 &&
         number(8) == static_cast<std::uint32_t>(module.modified) &&
         number(12) == static_cast<std::uint32_t>(module.size);
}

/// What was compiled, as a manifest: of the wheel's modules those that have byte code now.
/// `nonsense` receives those that have something else.
Result<Manifest> list_made(const Making& making, const WheelContents& wheel,
                           const ByteCodeKind& kind, std::vector<std::string>& nonsense) {
  Manifest manifest;
  manifest.file_name = wheel.manifest.file_name;
  manifest.dist_info = wheel.manifest.dist_info;
  const auto tree = open_folder(making.made + "/tree");
  if (!tree) return std::unexpected(tree.error());
  for (const StoredFile& module : wheel.manifest.files) {
    if (!is_module(module.path, wheel.manifest.dist_info)) continue;
    StoredFile file;
    file.path = byte_code_path(module.path, kind.tag);
    struct stat status = {};
    if (::fstatat(tree->get(), file.path.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (says_absent(errno)) continue;
      return std::unexpected(system_error("read", file.path, errno));
    }
    if (!is_byte_code_of(*tree, file.path, module, kind)) {
      nonsense.push_back(module.path);
      continue;
    }
    auto hash = hash_file(tree->get(), file.path);
    if (!hash) return std::unexpected(hash.error());
    file.sha256 = std::move(*hash);
    file.size = static_cast<std::uint64_t>(status.st_size);
    file.modified = status.st_mtim.tv_sec;
    file.modified_now = nanoseconds_of(status.st_mtim);
    file.mode = status.st_mode & 07777U;
    manifest.files.push_back(std::move(file));
  }
  return manifest;
}

Result<void> make_folders(const std::vector<Module>& modules) {
  std::string last;
  for (const Module& module : modules) {
    std::string folder = module.target.substr(0, module.target.rfind('/'));
    if (folder == last) continue;
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return std::unexpected(system_error("create", folder, error.value()));
    last = std::move(folder);
  }
  return {};
}

}  // namespace

Result<std::vector<StoreEntry>> acquire_byte_code(const std::string& store,
                                                  const std::string& read_only_store,
                                                  const std::vector<const WheelContents*>& wheels,
                                                  const Environment& environment, EntryCheck check,
                                                  Report& report) {
  const ByteCodeKind& kind = environment.byte_code;
  if (kind.tag.empty()) {
    return fail(ErrorKind::unsupported,
                fmt::format("{} does not keep byte code in files", environment.python),
                "leave out --compile-bytecode");
  }
  std::vector<StoreEntry> entries(wheels.size());
  std::vector<std::optional<StoreEntry>> found(wheels.size());
  system::for_each_at_once(wheels.size(), system::usable_processors(), [&](std::size_t i) {
    found[i] = find_entry(entry_of(store, *wheels[i], kind), check);
    if (!found[i] && !read_only_store.empty())
      found[i] = find_entry(entry_of(read_only_store, *wheels[i], kind), check);
  });
  auto work = WorkFolder::create(store);
  if (!work) return std::unexpected(work.error());
  std::vector<Making> makings;
  std::vector<Module> modules;
  for (std::size_t i = 0; i < wheels.size(); ++i) {
    if (found[i]) {
      entries[i] = std::move(*found[i]);
      continue;
    }
    const Making& making = makings.emplace_back(i, fmt::format("{}/{}", work->path(), i));
    for (const std::string& folder : {making.made, making.made + "/tree"}) {
      if (::mkdir(folder.c_str(), 0777) != 0)
        return std::unexpected(system_error("create", folder, errno));
    }
    mark_unflushed_entry(making.made);
    const Manifest& manifest = wheels[i]->manifest;
    for (const StoredFile& file : manifest.files) {
      if (!is_module(file.path, manifest.dist_info)) continue;
      modules.push_back(
          {wheels[i]->tree + "/" + file.path,
           fmt::format("{}/tree/{}", making.made, byte_code_path(file.path, kind.tag)), file.path});
    }
  }
  if (auto made = make_folders(modules); !made) return std::unexpected(made.error());
  if (auto done = Compiler(environment, *work, report).compile(modules); !done)
    return std::unexpected(done.error());
  std::vector<std::string> nonsense;
  for (const Making& making : makings) {
    const WheelContents& wheel = *wheels[making.wheel];
    auto manifest = list_made(making, wheel, kind, nonsense);
    if (!manifest) return std::unexpected(manifest.error());
    auto entry =
        enter(making.made, entry_of(store, wheel, kind), std::move(*manifest), *work, check);
    if (!entry) return std::unexpected(entry.error());
    entries[making.wheel] = std::move(*entry);
  }
  if (!nonsense.empty()) {
    report.warn(fmt::format("not compiled, because what the interpreter wrote is not byte code: {}",
                            fmt::join(nonsense, ", ")));
  }
  return entries;
}

}  // namespace axle::installer
