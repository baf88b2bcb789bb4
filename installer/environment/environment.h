#pragma once
// A Python environment: its interpreter, its package folders, and what it reports about itself.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/marker.h"
#include "wheel/tag.h"
#include "wheel/version.h"

namespace axle::installer {

/// An installation scheme: its folders below its base ("/lib/python3.12/site-packages").
struct FolderScheme {
  std::string purelib;
  std::string platlib;
  std::string scripts;
  std::string include;  ///< without the distribution's name
};

/// What an interpreter's byte code is called, and which interpreters can run it.
struct ByteCodeKind {
  std::string tag;    ///< sys.implementation.cache_tag, "cpython-312"; empty: it has none
  std::string magic;  ///< importlib.util.MAGIC_NUMBER, in hexadecimal digits
};

struct Environment {
  std::string python;  ///< absolute path of the interpreter
  std::string prefix;  ///< sys.prefix
  bool virtual_env = false;
  bool externally_managed = false;  ///< EXTERNALLY-MANAGED exists (PEP 668)
  std::string externally_managed_message;
  std::string purelib;
  std::string platlib;
  std::string scripts;
  std::string data;
  std::string include;  ///< for .data/headers, without the distribution's name
  /// Other folders whose packages the interpreter sees, in its own order: dist-packages of a
  /// distribution, the system's with --system-site-packages. Only read.
  std::vector<std::string> outer_sites;
  wheel::MarkerEnvironment markers;
  wheel::Version python_version;
  wheel::TagTarget tag_target;
  ByteCodeKind byte_code;
  FolderScheme prefix_scheme;  ///< of an installation with a prefix of its own
  FolderScheme home_scheme;    ///< of one into a single folder
  FolderScheme user_scheme;
  /// The folder in whose place the interpreter's own are not used (--target and the like); empty:
  /// they are.
  std::string other_base;

  /// What messages call it.
  [[nodiscard]] const std::string& place() const {
    return other_base.empty() ? prefix : other_base;
  }
};

/// How the user specified an environment; the first member that is set applies.
struct EnvironmentRequest {
  std::string python;        ///< --python: interpreter, environment folder or a name like "3.12"
  bool system = false;       ///< --system: python3 on the path
  std::string virtual_env;   ///< $VIRTUAL_ENV
  std::string conda_prefix;  ///< $CONDA_PREFIX
  std::string working_dir;   ///< where `.venv` is searched
  std::string path;          ///< $PATH
  std::string cache_folder;  ///< answers are cached here by interpreter path, size and time; empty:
                             ///< not cached
  /// Called, with the interpreter and the folder of its virtual environment, while it is being
  /// asked. Not called if the answer is cached or it is in no such folder.
  std::function<void(const std::string& python, const std::string& prefix)> meanwhile = {};
};

/// The first executable file `name` in the folders of `path` ("/usr/bin:…"); relative folders are
/// skipped.
[[nodiscard]] std::optional<std::string> find_program(std::string_view name, std::string_view path);

/// The interpreter that find_environment would start, without starting it. Errors: as there.
[[nodiscard]] Result<std::string> find_interpreter(const EnvironmentRequest& request);

/// Starts the interpreter once (isolated: -I) unless the cached answer is still valid.
/// Errors: not_found (no environment: how to create one), malformed (it is not one, or does not
/// answer within 10 s), io.
[[nodiscard]] Result<Environment> find_environment(const EnvironmentRequest& request);

}  // namespace axle::installer
