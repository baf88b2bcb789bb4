#pragma once
// Queries a Python interpreter about itself.

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "foundation/report/error.h"
#include "installer/environment/environment.h"

namespace axle::installer {

/// Runs `python` once, isolated, and returns the JSON text that it prints about itself. Output is
/// bounded. `meanwhile` is called while it runs. Errors: malformed (it is not an interpreter, or
/// does not answer in time), io.
[[nodiscard]] Result<std::string> ask_interpreter(const std::string& python,
                                                  std::chrono::milliseconds limit,
                                                  const std::function<void()>& meanwhile = {});

/// Parses such an answer. The caller determines whether the environment is externally managed,
/// which may change at any time. `stdlib` receives the folder of that file. Error: malformed.
[[nodiscard]] Result<Environment> parse_interpreter_answer(std::string_view json,
                                                           std::string_view where,
                                                           std::string& stdlib);

}  // namespace axle::installer
