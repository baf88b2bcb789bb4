#include "tests/installer/sandbox.h"

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <stdlib.h>
#include <unistd.h>

#include "foundation/system/program_run.h"
#include "index/http/url.h"
#include "wheel/hash/sha256.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::installer {

namespace fs = std::filesystem;

Sandbox::Sandbox(const std::string& parent) {
  path_ = (parent.empty() ? fs::temp_directory_path().string() : parent) + "/axle-test-XXXXXX";
  if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no temporary folder " + path_);
  path_ = fs::canonical(path_).string();
}

Sandbox::~Sandbox() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string Sandbox::operator/(std::string_view name) const {
  return path_ + "/" + std::string(name);
}

void write_text(const std::string& path, std::string_view text) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool is_there(const std::string& path) { return fs::exists(fs::symlink_status(path)); }

std::map<std::string, std::string> snapshot(const std::string& folder) {
  std::map<std::string, std::string> tree;
  for (auto entry = fs::recursive_directory_iterator(folder);
       entry != fs::recursive_directory_iterator(); ++entry) {
    const std::string name = fs::path(entry->path()).lexically_relative(folder).string();
    if (name == ".axle") {
      entry.disable_recursion_pending();
    } else if (entry->is_symlink()) {
      tree[name] = "-> " + fs::read_symlink(entry->path()).string();
    } else {
      tree[name] = entry->is_directory() ? "/" : read_text(entry->path().string());
    }
  }
  return tree;
}

std::string wheel_bytes(const std::string& name, const std::string& version,
                        std::vector<wheel::WheelMember> members, const std::string& more_metadata) {
  const std::string dist_info = wheel::wheel_distribution(name) + "-" + version + ".dist-info";
  members.push_back({dist_info + "/METADATA", "Metadata-Version: 2.1\nName: " + name +
                                                  "\nVersion: " + version + "\n" + more_metadata});
  members.push_back(
      {dist_info + "/WHEEL",
       "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"});
  auto bytes = wheel::write_wheel(std::move(members), dist_info, 1'700'000'000);
  if (!bytes) throw std::runtime_error(bytes.error().message);
  return *bytes;
}

std::string make_wheel(const std::string& folder, const std::string& name,
                       const std::string& version, std::vector<wheel::WheelMember> members,
                       const std::string& more_metadata) {
  const std::string path =
      folder + "/" + wheel::wheel_distribution(name) + "-" + version + "-py3-none-any.whl";
  write_text(path, wheel_bytes(name, version, std::move(members), more_metadata));
  return path;
}

plan::ResolvedPackage package_of(const std::string& path) {
  plan::ResolvedPackage package;
  package.filename = fs::path(path).filename().string();
  auto name = wheel::parse_wheel_name(package.filename);
  if (!name) throw std::runtime_error(name.error().message);
  package.name = wheel::normalize_name(name->distribution);
  package.version = name->version;
  package.wheel_name = std::move(*name);
  package.url = index::file_url(path);
  const std::string bytes = read_text(path);
  package.hash = wheel::expected_sha256(wheel::render_hex(wheel::sha256(bytes)));
  package.size = bytes.size();
  package.source = "the test's folder";
  package.requested = true;
  return package;
}

plan::Resolution resolution_of(const std::vector<std::string>& paths) {
  plan::Resolution resolution;
  for (const std::string& path : paths) resolution.packages.push_back(package_of(path));
  return resolution;
}

Environment bare_environment(const std::string& prefix) {
  Environment environment;
  environment.python = prefix + "/bin/python";
  environment.prefix = prefix;
  environment.virtual_env = true;
  environment.purelib = prefix + "/lib/python3.11/site-packages";
  environment.platlib = environment.purelib;
  environment.scripts = prefix + "/bin";
  environment.data = prefix;
  environment.include = prefix + "/include/site/python3.11";
  environment.markers.strings = {{"python_version", "3.11"},
                                 {"python_full_version", "3.11.2"},
                                 {"os_name", "posix"},
                                 {"sys_platform", "linux"},
                                 {"platform_machine", "x86_64"},
                                 {"platform_system", "Linux"},
                                 {"implementation_name", "cpython"}};
  fs::create_directories(environment.purelib);
  write_text(prefix + "/bin/python", "the interpreter");
  write_text(prefix + "/bin/activate", "the activation");
  write_text(prefix + "/pyvenv.cfg", "home = /usr/bin\n");
  return environment;
}

std::optional<std::string> make_venv(const std::string& prefix) {
  const char* python = "/usr/bin/python3";
  if (::access(python, X_OK) != 0) {
    std::fprintf(stderr, "skipped: there is no %s\n", python);
    return std::nullopt;
  }
  const CommandResult made = run_command({python, "-m", "venv", "--without-pip", prefix});
  if (made.status != 0) {
    std::fprintf(stderr, "skipped: %s -m venv fails: %s%s\n", python, made.out.c_str(),
                 made.err.c_str());
    return std::nullopt;
  }
  return prefix;
}

Result<index::HttpResponse> MemoryTransport::fetch(const index::HttpRequest& request) {
  return fail(ErrorKind::io, "nothing is fetched here: " + request.url);
}

Result<index::HttpResponse> MemoryTransport::download(const index::HttpRequest& request,
                                                      const index::BodySink& sink) {
  ++downloads;
  index::HttpResponse response;
  response.url = request.url;
  const auto file = files.find(request.url);
  response.status = file == files.end() ? 404 : 200;
  if (file == files.end()) return response;
  constexpr std::size_t step = 1000;
  for (std::size_t at = 0; at < file->second.size(); at += step) {
    const std::string_view part = std::string_view(file->second).substr(at, step);
    if (auto taken = sink(std::as_bytes(std::span(part))); !taken)
      return std::unexpected(taken.error());
  }
  return response;
}

CommandResult run_command(std::vector<std::string> arguments,
                          const std::vector<std::string>& settings) {
  if (!settings.empty()) {
    std::vector<std::string> wrapped{"/usr/bin/env"};
    wrapped.insert(wrapped.end(), settings.begin(), settings.end());
    wrapped.insert(wrapped.end(), arguments.begin(), arguments.end());
    arguments = std::move(wrapped);
  }
  auto output = system::run_program({arguments}, {.time_limit = std::chrono::minutes(2)});
  if (!output) throw std::runtime_error(output.error().message());
  return {output->exit_code, std::move(output->out), std::move(output->err)};
}

std::optional<CommandResult> run_as_nobody(const std::vector<std::string>& arguments) {
  if (::geteuid() != 0) return run_command(arguments);
  if (::access("/usr/bin/setpriv", X_OK) != 0) {
    std::fprintf(stderr, "skipped: rights cannot be dropped without setpriv\n");
    return std::nullopt;
  }
  std::vector<std::string> command = {"/usr/bin/setpriv", "--reuid=65534", "--regid=65534",
                                      "--clear-groups"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_command(std::move(command));
}

std::string beside_test(std::string_view name) {
  return fs::read_symlink("/proc/self/exe").parent_path().string() + "/" + std::string(name);
}

}  // namespace axle::installer
