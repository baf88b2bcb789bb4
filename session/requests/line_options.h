#pragma once
// The options on one line of a requirements file.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "session/options.h"

namespace axle::session {

enum class FileOption : std::uint8_t {
  nested,    ///< names another file
  value,     ///< as the option of the command, with a value
  flag,      ///< likewise, without
  ignored,   ///< no effect if only wheels are installed
  build,     ///< about building one package, which Axle does not support
  editable,  ///< its value is a folder
};

struct OptionSpelling {
  std::string_view spelling;
  FileOption kind;
  bool takes_value;
  Opt id = Opt::requirement;  ///< of `nested`, `value` and `flag`
};

struct LineOption {
  const OptionSpelling* spelling;
  std::string value;  ///< without the quotes that were around it
};

/// The option at the start of `word`; null: pip 26.3 has none of that name in files.
[[nodiscard]] const OptionSpelling* find_option(std::string_view word);

/// All options of a line that begins with "-". A value ends where the next word begins with "-":
/// one with blanks needs no quotes, as in uv, and has them removed, as in pip. `where`: for errors.
[[nodiscard]] Result<std::vector<LineOption>> read_line_options(std::string_view line,
                                                                std::string_view where);

}  // namespace axle::session
