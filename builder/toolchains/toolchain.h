#pragma once
// The compilers of a build: found, asked for their version, and tried before anything is compiled.

#include <expected>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "builder/compilation.h"
#include "foundation/report/error.h"

namespace axle::builder {

struct Compiler {
  std::string program;  ///< as it is started; empty: there is none
  std::string version;  ///< the line of its answer that says it
  /// That it always has: "gcc" of "ccache gcc", "-pthread" of "gcc -pthread".
  std::vector<std::string> arguments = {};

  [[nodiscard]] std::vector<std::string> command() const;
  /// As CMake takes a compiler with arguments.
  [[nodiscard]] std::string as_list() const;
  /// What a launcher (ccache) starts; nvcc takes no launcher as the compiler for the host.
  [[nodiscard]] const std::string& launched() const;
};

/// The clang that hipcc starts: CMake's language HIP takes no hipcc, which is a script.
struct HipClang {
  std::string program;
  std::vector<std::string> arguments;  ///< where HIP and its device libraries are, as hipcc says

  /// "/usr", from --rocm-path; "" without.
  [[nodiscard]] std::string rocm() const;
  /// As CMake takes a compiler with arguments that it always needs. CMake identifies compilers
  /// without the flags of the language where these have blanks.
  [[nodiscard]] std::string as_list() const;
};

/// With which one row is compiled.
struct Toolchain {
  std::string architecture;  ///< of the code: "x86_64"
  std::string triple;        ///< "aarch64-linux-gnu"; empty: the machine's own
  Compiler c;
  Compiler cxx;
  std::optional<Compiler> cuda;
  std::optional<Compiler> cuda_host;  ///< that CUDAHOSTCXX names
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
  const RowSettings& settings;  ///< of the row: where it says what
  std::string title;            ///< "variant v3", for errors
  std::string place;            ///< of the row
};

/// "x86_64": of the machine that builds.
[[nodiscard]] std::string host_architecture();

/// Finds each compiler once, as rows with one environment have them.
class ToolchainFinder {
 public:
  /// `environment` is the rows' own; `inherited`, which it changes, that of this program.
  ToolchainFinder(ToolchainPlaces places, std::map<std::string, StatedCompilers> stated,
                  std::string work_folder, Definitions environment, Definitions inherited);

  /// All that `needs` asks for, tried with its flags and targets. Errors, with the place of what
  /// asks for it: not_found (what is missing, what to install), unsupported (a flag or target that
  /// a compiler lacks: its version, the property; a compiler that does not work: its own words), io
  /// (the disk is full).
  [[nodiscard]] Result<Toolchain> find(const ToolchainNeeds& needs);

 private:
  [[nodiscard]] Result<void> find_host(const ToolchainNeeds& needs, Toolchain& found);
  [[nodiscard]] Result<void> find_cross(Toolchain& found);
  [[nodiscard]] Result<void> find_cuda(const ToolchainNeeds& needs, Toolchain& found);
  [[nodiscard]] Result<void> find_cuda_host(Toolchain& found);
  [[nodiscard]] Result<void> check_nvcc(const ToolchainNeeds& needs, const Toolchain& found);
  [[nodiscard]] Result<void> find_hip(const ToolchainNeeds& needs, Toolchain& found);
  [[nodiscard]] Result<void> ask_cmake();
  [[nodiscard]] Result<void> find_sycl(const ToolchainNeeds& needs, Toolchain& found);
  [[nodiscard]] Compiler asked(const std::string& program, const std::string& language);
  /// The same of what a user says, which may be a command of several words.
  [[nodiscard]] Compiler asked_command(const std::string& said, const std::string& language);
  /// What CMake found, with the arguments of the variable that named it.
  [[nodiscard]] Compiler found_by_cmake(const std::string& program, std::string_view variable_name,
                                        const std::string& language);
  [[nodiscard]] Result<void> check_flags(const Toolchain& found, const Compilation& compilation);
  /// Whether `arguments` end well; each combination is tried once.
  [[nodiscard]] bool tried(const std::vector<std::string>& arguments);
  /// What the program said when they were tried and did not.
  [[nodiscard]] const std::string& words_of(const std::vector<std::string>& arguments);
  /// Of the rows' environment, else of this program's.
  [[nodiscard]] std::string variable(std::string_view name) const;
  /// "CFLAGS=-g, CC=gcc": those of them that are set.
  [[nodiscard]] std::string said_by_variables(std::initializer_list<std::string_view> names) const;
  /// The next error is about the first of these that the row says: a setting, variable, property.
  void blame(std::vector<std::string> what) { blamed_ = std::move(what); }
  [[nodiscard]] Result<Toolchain> find_all(const ToolchainNeeds& needs);
  /// What the hipcc of these arguments starts; asked once.
  [[nodiscard]] const std::optional<HipClang>& started_by(
      const std::vector<std::string>& arguments);
  /// What the program wrote, also as the error if it failed. `variables` are set for it.
  [[nodiscard]] std::expected<std::string, std::string> output_of(
      const std::vector<std::string>& arguments,
      std::vector<std::pair<std::string, std::string>> variables = {});

  ToolchainPlaces places_;
  std::map<std::string, StatedCompilers> stated_;
  std::string work_;
  Definitions environment_;
  Definitions inherited_;
  std::vector<std::string> blamed_;  ///< as RowSettings::places has it
  std::string blamed_place_;         ///< where that is, if not in the row
  std::map<std::string, Compiler> asked_;
  std::map<std::string, Compiler> asked_commands_;
  std::map<std::vector<std::string>, std::expected<std::string, std::string>> tried_;
  std::map<std::string, std::optional<HipClang>> hip_clangs_;  ///< by the hipcc that starts them
  std::optional<Result<Toolchain>> by_cmake_;
  /// Why compilers could not be tried: then nothing is known of any.
  std::optional<Error> trouble_;
};

}  // namespace axle::builder
