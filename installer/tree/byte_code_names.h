#pragma once
// What byte code is called (PEP 3147): demo/a.py -> demo/__pycache__/a.cpython-312.pyc.
// Interpreters may write it at any time, so that it is never a change by somebody else.

#include <string>
#include <string_view>

namespace axle::installer {

inline constexpr std::string_view byte_code_folder = "__pycache__";

[[nodiscard]] bool is_byte_code_folder(std::string_view path);

/// Of `module`, a path that ends with ".py", for interpreters with that `tag`
/// (sys.implementation.cache_tag).
[[nodiscard]] std::string byte_code_path(std::string_view module, std::string_view tag);

/// "module.cpython-311.opt-1.pyc" -> "module"; empty if it is not byte code of such a folder.
[[nodiscard]] std::string byte_code_stem(std::string_view name);

}  // namespace axle::installer
