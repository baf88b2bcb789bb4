#pragma once
// What starting a program takes: the interpreter of a script, the loader of a binary. In a sandbox
// a program may be started once, so scripts are started by their interpreter, as the kernel and
// /usr/bin/env would, in one step.

#include <string>
#include <string_view>
#include <vector>

namespace axle::plugins {

struct ProgramStart {
  std::string program;                 ///< what execve gets
  std::vector<std::string> arguments;  ///< argv, with argv[0]
};

/// `program` may be a script ("#!/usr/bin/env python3", "#!/bin/sh -e"); interpreters named by env
/// are looked for in `folders` ("/usr/bin:/bin"). What is not a script stays as it is.
[[nodiscard]] ProgramStart start_of(const std::string& program,
                                    const std::vector<std::string>& arguments,
                                    std::string_view folders);

/// The files that must be executable for `program` to start: itself, its interpreters, their ELF
/// loaders.
[[nodiscard]] std::vector<std::string> files_to_start(const std::string& program,
                                                      std::string_view folders);

}  // namespace axle::plugins
