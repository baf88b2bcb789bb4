#include "cli/self_commands.h"

namespace axle::cli {

using session::Opt;

Command self_test_row() {
  return {"self-test",
          "Check that the installed program works on this machine",
          "",
          Arity::none,
          {Opt::cert, Opt::config_file, Opt::no_config},
          "variant self-test\n"
          "variant self-test --json",
          run_self_test,
          this_machine};
}

Command completion_row() {
  return {"completion",
          "Print the completion script for a shell: bash, zsh or fish",
          "SHELL",
          Arity::one,
          {},
          "variant completion bash > ~/.local/share/bash-completion/completions/variant\n"
          "variant completion zsh > ~/.zfunc/_variant      in a folder of $fpath\n"
          "variant completion fish > ~/.config/fish/completions/variant.fish",
          run_completion,
          no_machine};
}

Command man_row() {
  return {"man",
          "Print the manual page of the program or of a command, or write all of them",
          "COMMAND",
          Arity::any,
          {Opt::out},
          "variant man --out ~/.local/share/man/man1    a page a command\n"
          "variant man install | man -l -",
          run_man,
          no_machine};
}

}  // namespace axle::cli
