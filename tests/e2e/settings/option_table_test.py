"""docs/pip-and-uv.md against the installed pip and uv."""

import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import option_table
import support


class Table(support.TestCase):
    def setUp(self):
        super().setUp()
        if not (support.PEERS / "uv").exists():
            self.skipTest("pip and uv are not there: ./dev setup brings them")
        self.rows = option_table.Rows(option_table.ROWS.read_text())

    def test_every_option_of_pip_and_uv_has_a_row_and_every_row_is_true(self):
        self.assertEqual(option_table.problems(self.rows), [])

    def test_help_is_read(self):
        for program, command, some, least in (("pip", "install", ["--requirement", "--root-user-action", "--no-deps"], 70),
                                              ("uv", "pip install", ["--requirements", "--torch-backend", "--no-break-system-packages"], 75),
                                              ("pip", "check", ["--proxy"], 20), ("uv", "venv", ["--seed"], 30)):
            found = dict(option_table.options(program, command))
            self.assertGreater(len(found), least)
            self.assertEqual([one for one in some if one not in found], [])
        self.assertEqual(found["--clear"], "-c")

    def test_the_page_is_made_from_them(self):
        self.assertEqual(option_table.PAGE.read_text(), option_table.page(self.rows), f"run python3 {option_table.HERE}")

    def test_what_is_wrong_is_found(self):
        text = option_table.ROWS.read_text()
        for change, words in ((text.replace("--log = not", "--nosuch = not"), "has no --nosuch"),
                              (text + "\n[pip list]\n--verbose = have --nosuch\n", "has no --nosuch"),
                              (text.replace("[pip check]\ncommand = check", "[pip check]\ncommand = nosuch"), "no `variant nosuch`"),
                              (text.replace("--path = differs --target: one folder\n", "", 1), "pip list --path: no row"),
                              (text.replace("command = show", "command = not: none"), "there is `variant show`")):
            self.assertNotEqual(change, text)
            try:
                found = option_table.problems(option_table.Rows(change))
            except ValueError as error:
                found = [str(error)]
            self.assertIn(words, "\n".join(found))


if __name__ == "__main__":
    unittest.main()
