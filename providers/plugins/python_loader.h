#pragma once

namespace axle::plugins {

/// python_loader.py: what the interpreter of a Python plugin is given with -c.
[[nodiscard]] const char* python_loader();

}  // namespace axle::plugins
