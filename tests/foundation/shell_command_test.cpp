#include "foundation/system/shell_command.h"

#include <doctest/doctest.h>

using axle::shell_word;

TEST_CASE("a word is quoted where a shell would take it apart") {
  CHECK(shell_word("/srv/venv-3.12") == "/srv/venv-3.12");
  CHECK(shell_word("base>=2") == "'base>=2'");
  CHECK(shell_word("a'b") == "'a'\\''b'");
  CHECK(shell_word("") == "''");
}
