#pragma once

namespace axle::plugins {

/// python_loader.py: passed with -c to the interpreter of a Python plugin.
[[nodiscard]] const char* python_loader();

}  // namespace axle::plugins
