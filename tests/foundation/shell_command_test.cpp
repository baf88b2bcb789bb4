#include "foundation/system/shell_command.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

using axle::shell_word;

TEST_CASE("a word is quoted where a shell would take it apart") {
  CHECK(shell_word("/srv/venv-3.12") == "/srv/venv-3.12");
  CHECK(shell_word("base>=2") == "'base>=2'");
  CHECK(shell_word("a'b") == "'a'\\''b'");
  CHECK(shell_word("") == "''");
}

TEST_CASE("a command is taken apart as a shell does it, without expanding anything") {
  using Words = std::vector<std::string>;
  using axle::shell_words;
  CHECK(shell_words("ccache gcc\t-pthread ") == Words{"ccache", "gcc", "-pthread"});
  CHECK(shell_words("'/my tools/gcc' \"-DA=b c\" a\\ b") ==
        Words{"/my tools/gcc", "-DA=b c", "a b"});
  CHECK(shell_words("'' $HOME `x`") == Words{"", "$HOME", "`x`"});
  CHECK(shell_words("  ").empty());
  CHECK(shell_words("open 'to the end") == Words{"open", "to the end"});
  CHECK(shell_words("a\\") == Words{"a\\"});
  const Words words{"/a b/c", "it's", "", "\"q\"", "\\n"};
  CHECK(shell_words(axle::shell_command(words)) == words);
}
