#include "installer/environment/interpreter.h"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "foundation/system/program_run.h"
#include "installer/file_access.h"

namespace axle::installer {
namespace {

// Keys of "markers" as in the dependency specifiers specification; libc as `packaging` finds it,
// musl's version from its loader; a build between releases ("3.14.0a1+") counts as local.
constexpr const char* question = R"python(
import json, os, platform, site, sys, sysconfig

def full_version(info):
    text = "%d.%d.%d" % tuple(info[:3])
    if info.releaselevel != "final":
        text += info.releaselevel[0] + str(info.serial)
    return text

def libc():
    try:
        name, version = os.confstr("CS_GNU_LIBC_VERSION").split()
        return [name, version]
    except (AttributeError, OSError, ValueError):
        pass
    import glob, re, subprocess
    for loader in glob.glob("/lib/ld-musl-*.so.1"):
        run = subprocess.run([loader], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        found = re.search(r"Version (\d+\.\d+)", run.stderr.decode("utf-8", "replace"))
        if found:
            return ["musl", found.group(1)]
    return ["", ""]

def python_full_version():
    text = platform.python_version()
    return text + "local" if text.endswith("+") else text

def scheme(kind):
    prefer = getattr(sysconfig, "get_preferred_scheme", lambda kind: "posix_" + kind)
    name = prefer(kind)
    # Of Debian, for /usr/local alone.
    name = "posix_prefix" if name == "posix_local" else name
    bases = ["installed_base", "base", "installed_platbase", "platbase", "prefix", "exec_prefix", "userbase"]
    paths = sysconfig.get_paths(name, dict.fromkeys(bases, "/-"))
    return {key: paths[key][2:] for key in ("purelib", "platlib", "scripts", "include")}

def byte_code():
    import importlib.util
    tag = sys.implementation.cache_tag
    return [tag, importlib.util.MAGIC_NUMBER.hex()] if tag else ["", ""]

variables = sysconfig.get_config_vars()
version = sys.version_info
# On a line of its own: what a sitecustomize or a .pth file prints comes before it.
print()
json.dump({
    "executable": sys.executable,
    "prefix": sys.prefix,
    "base_prefix": sys.base_prefix,
    "version": list(version[:3]),
    "paths": sysconfig.get_paths(),
    "schemes": {kind: scheme(kind) for kind in ("prefix", "home", "user")},
    "sites": site.getsitepackages() if hasattr(site, "getsitepackages") else [],
    "platform": sysconfig.get_platform(),
    "bits": 64 if sys.maxsize > 2**32 else 32,
    "soabi": variables.get("SOABI") or "",
    "free_threaded": bool(variables.get("Py_GIL_DISABLED")),
    "libc": libc(),
    "byte_code": byte_code(),
    "markers": {
        "implementation_name": sys.implementation.name,
        "implementation_version": full_version(sys.implementation.version),
        "os_name": os.name,
        "platform_machine": platform.machine(),
        "platform_python_implementation": platform.python_implementation(),
        "platform_release": platform.release(),
        "platform_system": platform.system(),
        "platform_version": platform.version(),
        "python_full_version": python_full_version(),
        "python_version": ".".join(platform.python_version_tuple()[:2]),
        "sys_platform": sys.platform,
    },
}, sys.stdout)
)python";

constexpr std::string_view another_python =
    "choose another with --python, or create an environment with `variant venv`";

using Json = nlohmann::json;

const std::string& text_at(const Json& object, const char* key) {
  return object.at(key).get_ref<const std::string&>();
}

/// "cpython-311-x86_64-linux-gnu" -> "cp311", "pypy39-pp73-…" -> "pypy39_pp73". A debug build of
/// CPython loads ordinary extension modules as well.
std::vector<std::string> abis_of(const std::string& soabi) {
  const std::size_t first = soabi.find('-');
  if (first == std::string::npos) return {};
  const std::size_t second = std::min(soabi.find('-', first + 1), soabi.size());
  const std::string part = soabi.substr(first + 1, second - first - 1);
  if (!soabi.starts_with("cpython-")) return {soabi.substr(0, first) + "_" + part};
  const std::string abi = "cp" + part;
  if (abi.ends_with('d')) return {abi, abi.substr(0, abi.size() - 1)};
  return {abi};
}

std::string architecture_of(const std::string& platform, int bits) {
  std::string architecture = platform.substr(std::min(platform.find('-'), platform.size() - 1) + 1);
  if (bits == 32 && architecture == "x86_64") return "i686";
  if (bits == 32 && architecture == "aarch64") return "armv8l";
  return architecture;
}

wheel::TagTarget tag_target(const Json& answer) {
  wheel::TagTarget target;
  const std::string& implementation = text_at(answer.at("markers"), "implementation_name");
  target.implementation = implementation == "cpython" ? "cp"
                          : implementation == "pypy"  ? "pp"
                                                      : implementation;
  target.python_major = answer.at("version").at(0).get<unsigned>();
  target.python_minor = answer.at("version").at(1).get<unsigned>();
  target.abis = abis_of(text_at(answer, "soabi"));
  target.free_threaded = answer.at("free_threaded").get<bool>();
  target.architecture = architecture_of(text_at(answer, "platform"), answer.at("bits").get<int>());
  target.libc_family = answer.at("libc").at(0).get<std::string>();
  const std::string version = answer.at("libc").at(1).get<std::string>();
  const std::size_t dot = version.find('.');
  if (!target.libc_family.empty() && dot != std::string::npos) {
    target.libc_major = static_cast<unsigned>(std::stoul(version.substr(0, dot)));
    target.libc_minor = static_cast<unsigned>(std::stoul(version.substr(dot + 1)));
  }
  return target;
}

FolderScheme read_scheme(const Json& answer, const char* kind, const std::string& headers) {
  const Json& paths = answer.at("schemes").at(kind);
  return {text_at(paths, "purelib"), text_at(paths, "platlib"), text_at(paths, "scripts"),
          headers.empty() ? text_at(paths, "include") : headers};
}

/// Both become parts of names of files. Nothing of what has another form.
ByteCodeKind read_byte_code(const Json& answer) {
  ByteCodeKind kind{answer.at("byte_code").at(0).get<std::string>(),
                    answer.at("byte_code").at(1).get<std::string>()};
  const auto plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
           c == '_' || c == '+';
  };
  const bool good = std::ranges::all_of(kind.tag, plain) && std::ranges::all_of(kind.magic, plain);
  return good ? kind : ByteCodeKind();
}

Environment read_answer(const Json& answer, std::string& stdlib) {
  Environment environment;
  environment.python = text_at(answer, "executable");
  environment.prefix = text_at(answer, "prefix");
  environment.virtual_env = environment.prefix != text_at(answer, "base_prefix");
  const Json& paths = answer.at("paths");
  stdlib = text_at(paths, "stdlib");
  environment.purelib = text_at(paths, "purelib");
  environment.platlib = text_at(paths, "platlib");
  environment.scripts = text_at(paths, "scripts");
  environment.data = text_at(paths, "data");
  for (const Json& site : answer.at("sites")) {
    const auto& folder = site.get_ref<const std::string&>();
    if (folder.starts_with('/') && folder != environment.purelib && folder != environment.platlib)
      environment.outer_sites.push_back(folder);
  }
  const std::string& version = text_at(answer.at("markers"), "python_version");
  // The include folder of sysconfig belongs to the base interpreter; pip installs headers into
  // these two.
  environment.include = environment.virtual_env
                            ? fmt::format("{}/include/site/python{}", environment.data, version)
                            : fmt::format("{}/include/python{}", environment.data, version);
  // As pip does, whatever the scheme.
  const std::string headers =
      environment.virtual_env ? "/include/site/python" + version : std::string();
  environment.prefix_scheme = read_scheme(answer, "prefix", headers);
  environment.home_scheme = read_scheme(answer, "home", headers);
  environment.user_scheme = read_scheme(answer, "user", headers);
  for (const auto& [key, value] : answer.at("markers").items()) {
    environment.markers.strings.emplace(key, value.get<std::string>());
  }
  environment.tag_target = tag_target(answer);
  environment.byte_code = read_byte_code(answer);
  return environment;
}

}  // namespace

Result<std::string> ask_interpreter(const std::string& python, std::chrono::milliseconds limit,
                                    const std::function<void()>& meanwhile) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorKind::malformed,
                fmt::format("{} is not a working Python interpreter: {}", python, why),
                std::string(another_python));
  };
  auto output = system::run_program({{python, "-I", "-c", question}},
                                    {.time_limit = limit, .meanwhile = meanwhile});
  if (!output) return refuse(system_error("start", python, output.error().value()).message);
  if (output->timed_out) {
    return refuse(fmt::format("it did not answer within {} s",
                              std::chrono::duration_cast<std::chrono::seconds>(limit).count()));
  }
  if (output->too_long) return refuse("its output is too long");
  if (output->exit_code != 0) {
    std::string_view last = output->err;
    while (last.ends_with('\n')) last.remove_suffix(1);
    last = last.substr(last.rfind('\n') + 1);
    return refuse(
        fmt::format("it exited with status {}: {}", output->exit_code, last.substr(0, 300)));
  }
  std::string& text = output->out;
  return text.substr(text.rfind('\n') + 1);
}

Result<Environment> parse_interpreter_answer(std::string_view json, std::string_view where,
                                             std::string& stdlib) {
  try {
    const Json answer = Json::parse(json);
    Environment environment = read_answer(answer, stdlib);
    auto version = wheel::parse_version(environment.markers.strings["python_full_version"]);
    if (!version) return std::unexpected(within(std::string(where), version.error()));
    environment.python_version = std::move(*version);
    for (const std::string* path : {&environment.python, &environment.purelib, &environment.platlib,
                                    &environment.scripts, &environment.data, &stdlib}) {
      if (!path->starts_with('/')) {
        return fail(ErrorKind::malformed,
                    fmt::format("{} returns an invalid path: '{}'", where, *path),
                    std::string(another_python));
      }
    }
    return environment;
  } catch (const std::exception& error) {
    return fail(
        ErrorKind::malformed,
        fmt::format("{} does not behave like a Python interpreter: {}", where, error.what()),
        std::string(another_python));
  }
}

}  // namespace axle::installer
