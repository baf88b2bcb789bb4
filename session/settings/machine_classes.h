#pragma once
// [tool.axle] of a project: the classes of machines that it is locked for.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/documents/toml_reader.h"
#include "foundation/report/error.h"

namespace axle::session {

/// A row of [tool.axle.machines]: `train = "h100"`, or
/// `train = { machine = "h100", python = "3.12", backend = "cu130" }`.
struct MachineClass {
  std::string name;  ///< letters, digits, - and _; not the name of another class, whatever case
  /// As of --for; a profile's path counts from the folder of the project. "this": the machine that
  /// locks. "none": one without accelerator.
  std::string machine = {};
  std::string python =
      {};  ///< "3.12"; empty: the project's environment's, else the newest fitting one
  std::string platform = {};  ///< as of --python-platform; empty: that of the machine
  std::string backend = {};   ///< as of --torch-backend; empty: what fits
  /// The most that it may download, in bytes; nullopt: what the project says of all classes.
  std::optional<std::uint64_t> budget = {};
  std::string origin = {};  ///< "pyproject.toml:12"
};

/// "this", however that is said: "this one", "This machine".
[[nodiscard]] bool is_this_machine(std::string_view machine);

/// "train=h100". Error: malformed: no name, or no machine.
[[nodiscard]] Result<MachineClass> parse_machine_class(std::string_view text);

/// `budget` of a table: "3GB". nullopt: it says nothing; what is no size is refused at its line.
[[nodiscard]] std::optional<std::uint64_t> read_budget(documents::TomlTable& table);

/// The table `machines`, in the order of the file; empty without one. What is not valid is refused
/// at its line: a name of another form, or the same as another one's but for capitals, "-" and "_";
/// a Python that is no minor release.
[[nodiscard]] std::vector<MachineClass> read_machine_classes(documents::TomlTable& axle);

}  // namespace axle::session
