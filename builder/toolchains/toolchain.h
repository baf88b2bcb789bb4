#pragma once
// The compilers of a build: found, asked for their version, and tried before anything is compiled.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "builder/compilation.h"
#include "foundation/report/error.h"

namespace axle::builder {

struct Compiler {
  std::string program;  ///< as it is started; empty: there is none
  std::string version;  ///< the line of its answer that says it
};

/// The clang that hipcc starts: CMake's language HIP takes no hipcc, which is a script.
struct HipClang {
  std::string program;
  std::vector<std::string> arguments;  ///< where HIP and its device libraries are, as hipcc says

  /// "/usr", from --rocm-path; "" without.
  [[nodiscard]] std::string rocm() const;
};

/// With which one row is compiled.
struct Toolchain {
  std::string architecture;  ///< of the code: "x86_64"
  std::string triple;        ///< "aarch64-linux-gnu"; empty: the machine's own
  Compiler c;
  Compiler cxx;
  std::optional<Compiler> cuda;
  std::optional<Compiler> hip;
  std::optional<HipClang> hip_clang;  ///< where `hip` is hipcc
  std::optional<Compiler> sycl;       ///< of C++ with SYCL; then also `cxx`

  [[nodiscard]] bool is_cross() const { return !triple.empty(); }
};

/// Compilers of one architecture, named by [tool.axle.toolchain.ARCHITECTURE].
struct StatedCompilers {
  std::string c;
  std::string cxx;
  std::string place;  ///< "pyproject.toml:12"
};

/// Where compilers are searched besides PATH. Empty texts: nothing is said.
struct ToolchainPlaces {
  std::string c;                           ///< CC
  std::string cxx;                         ///< CXX
  std::string cuda;                        ///< CUDACXX
  std::string hip;                         ///< HIPCXX
  std::vector<std::string> cuda_toolkits;  ///< folders with bin/nvcc, the first one first
  /// Toolkits of packages in a Python environment; asked if there is no other.
  std::function<std::vector<std::string>()> python_toolkits;
  std::vector<std::string> rocm;  ///< folders with llvm/bin/clang++
};

struct ToolchainNeeds {
  std::string architecture;  ///< empty: the machine's own
  bool by_cmake = false;     ///< CMake chooses C and C++
  const Compilation& compilation;
};

/// "x86_64": of the machine that builds.
[[nodiscard]] std::string host_architecture();

/// Finds each compiler once.
class ToolchainFinder {
 public:
  ToolchainFinder(ToolchainPlaces places, std::map<std::string, StatedCompilers> stated,
                  std::string work_folder)
      : places_(std::move(places)), stated_(std::move(stated)), work_(std::move(work_folder)) {}

  /// All that `needs` asks for, tried with its flags and targets. Errors: not_found (what is
  /// missing, what to install), unsupported (a flag or target that a compiler lacks: its version,
  /// the property), io (the disk is full).
  [[nodiscard]] Result<Toolchain> find(const ToolchainNeeds& needs);

 private:
  [[nodiscard]] Result<void> find_host(const ToolchainNeeds& needs, Toolchain& found);
  [[nodiscard]] Result<void> find_cross(const ToolchainNeeds& needs, Toolchain& found);
  [[nodiscard]] Result<void> find_cuda(const ToolchainNeeds& needs, Toolchain& found);
  [[nodiscard]] Result<void> find_hip(const ToolchainNeeds& needs, Toolchain& found);
  [[nodiscard]] Result<void> find_sycl(const ToolchainNeeds& needs, Toolchain& found);
  [[nodiscard]] Compiler asked(const std::string& program, const std::string& language);
  [[nodiscard]] Result<void> check_flags(const Toolchain& found, const Compilation& compilation);
  /// Whether `arguments` end well; each combination is tried once.
  [[nodiscard]] bool tried(const std::vector<std::string>& arguments);
  [[nodiscard]] Result<Toolchain> find_all(const ToolchainNeeds& needs);
  /// What the hipcc of these arguments starts; asked once.
  [[nodiscard]] const std::optional<HipClang>& started_by(
      const std::vector<std::string>& arguments);
  /// What the program wrote; unset: it failed. `variables` are set for it.
  [[nodiscard]] std::optional<std::string> output_of(
      const std::vector<std::string>& arguments,
      std::vector<std::pair<std::string, std::string>> variables = {});

  ToolchainPlaces places_;
  std::map<std::string, StatedCompilers> stated_;
  std::string work_;
  std::map<std::string, Compiler> asked_;
  std::map<std::vector<std::string>, bool> tried_;
  std::map<std::string, std::optional<HipClang>> hip_clangs_;  ///< by the hipcc that starts them
  std::optional<Result<Toolchain>> by_cmake_;
  /// Why compilers could not be tried: then nothing is known of any.
  std::optional<Error> trouble_;
};

}  // namespace axle::builder
