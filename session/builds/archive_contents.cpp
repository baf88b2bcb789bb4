#include "session/builds/archive_contents.h"

#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace axle::session {

namespace {

namespace fs = std::filesystem;

// What leads out of the folder is refused, as by tarfile's `data` filter, which Pythons before 2023
// do not have. zipfile leaves out "..", roots and links itself, but forgets what is executable.
constexpr const char* script = R"python(
import os, sys, tarfile, zipfile

file, folder = sys.argv[1:]
base = os.path.realpath(folder)
filtered = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}

def check(name, path):
    real = os.path.realpath(os.path.join(base, path))
    if real != base and not real.startswith(base + os.sep):
        sys.exit("%r leads out of the archive" % name)

def take(archive, member):
    check(member.name, member.name)
    if member.issym():
        check(member.name, os.path.join(os.path.dirname(member.name), member.linkname))
    elif member.islnk():
        check(member.name, member.linkname)
    elif not member.isreg() and not member.isdir():
        sys.exit("%r is neither file, folder nor link" % member.name)
    member.mode = 0o755 if member.isdir() or member.mode & 0o111 else 0o644
    archive.extract(member, base, **filtered)

try:
    os.mkdir(folder)
    if zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                made = archive.extract(member, base)
                if not member.is_dir() and (member.external_attr >> 16) & 0o111:
                    os.chmod(made, os.stat(made).st_mode | 0o111)
    else:
        with tarfile.open(file) as archive:
            for member in archive:
                take(archive, member)
except Exception as error:  # a damaged archive raises any, its decompressor's too
    sys.exit("%s: %s" % (type(error).__name__, error))
)python";

}  // namespace

Result<std::string> unpack_archive(const std::string& python, const std::string& file,
                                   const std::string& folder, std::chrono::milliseconds time_limit,
                                   Report& report) {
  const std::string name = fs::path(file).filename().string();
  const ToldProgram unpacking{{{python, "-I", "-c", script, file, folder}}, "Python", time_limit};
  if (auto done = run_told(unpacking, name + " could not be unpacked", report); !done)
    return std::unexpected(std::move(done).error());
  std::vector<fs::directory_entry> entries;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    entries.push_back(*entry);
  if (error) return fail(ErrorKind::io, fmt::format("{}: {}", folder, error.message()));
  const bool one_folder = entries.size() == 1 &&
                          entries.front().symlink_status(error).type() == fs::file_type::directory;
  return one_folder ? entries.front().path().string() : folder;
}

}  // namespace axle::session
