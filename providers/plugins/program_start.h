#pragma once
// What is needed to start a program: the interpreter of a script, the loader of a binary. In a
// sandbox only one program start is allowed, so scripts are started through their interpreter
// directly, with the same result as with the kernel and /usr/bin/env.

#include <string>
#include <string_view>
#include <vector>

namespace axle::plugins {

struct ProgramStart {
  std::string program;                 ///< what execve gets
  std::vector<std::string> arguments;  ///< argv, with argv[0]
};

/// `program` may be a script ("#!/usr/bin/env python3", "#!/bin/sh -e"); interpreters named by env
/// are searched in `folders` ("/usr/bin:/bin"). Other programs are unchanged.
[[nodiscard]] ProgramStart start_of(const std::string& program,
                                    const std::vector<std::string>& arguments,
                                    std::string_view folders);

/// The files that must be executable for `program` to start: itself, its interpreters, their ELF
/// loaders.
[[nodiscard]] std::vector<std::string> files_to_start(const std::string& program,
                                                      std::string_view folders);

}  // namespace axle::plugins
