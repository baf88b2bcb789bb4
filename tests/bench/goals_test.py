"""Verdicts of goals.py on figures that are made up, and the peers' absence said instead of hidden."""

import contextlib
import io
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import goals
import measured

WITH_AMX = {"processor": "made up", "threads": 2, "kernels": ["amx_int8", "avx512_vnni"], "peaks": {"amx_int8": 12000.0, "avx512_vnni": 1600.0}}
WITHOUT_AMX = {**WITH_AMX, "kernels": ["avx512_vnni", "avx2"]}
WEIGHTS = 4096 * 4096
READS = 30.0  # GB/s


def table(name, contenders, cases, others=0.0):
    """`cases`: {case: {contender: seconds}}, three rounds of the same."""
    rounds = {case: [{"reads": READS, "others": others, "seconds": seconds}] * 3 for case, seconds in cases.items()}
    return measured.Table({"name": name, "contenders": contenders, "cases": rounds})


def layer_table(seconds, **lacking):
    """int8 at 1 and 8 rows: the same times at both."""
    contenders = {name: {"about": "", "bytes": WEIGHTS, "error": 0.01} for name in seconds}
    contenders.update({name: {"lacks": why} for name, why in lacking.items()})
    return table("int8", contenders, {"1": seconds, "8": seconds})


class Goals(unittest.TestCase):
    def said(self, machine, *tables, coexistence=None):
        """The rows of the Markdown table, by goal: [(what must be, figure, verdict)]; and all of it."""
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "measured.json")
            measured.store(file, machine, tables, coexistence)
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                sys.argv = ["goals.py", str(file)]
                goals.main()
        found = {}
        for line in printed.getvalue().splitlines():
            if line.startswith("| ") and not line.startswith("| |"):
                number, words, figure, verdict = (part.strip() for part in line.strip("|").split("|"))
                found.setdefault(number, []).append((words, figure, verdict))
        return found, printed.getvalue()

    def test_a_goal_is_met_or_missed_by_the_median_of_the_ratios(self):
        floor = WEIGHTS / READS / 1e9
        rows, _ = self.said(WITH_AMX, layer_table({"da8w8": floor / 0.95, "a16w8": floor / 0.5, "llama.cpp q8_0": floor / 0.95 * 1.34}))
        self.assertEqual(rows["1"][0][1:], ("0.95 (da8w8)", "met"))
        self.assertEqual(rows["1"][1][1:], ("1.34 (da8w8)", "**missed**"))

    def test_a_peer_that_is_not_there_is_said_with_its_reason(self):
        rows, printed = self.said(WITHOUT_AMX, layer_table({"da8w8": 1e-3, "llama.cpp q8_0": 4e-3}, **{"torchao int8": "too large"}))
        self.assertIn(("int8 weights, 1 row: at least 1.2 times as fast as torchao int8", "", "not measured here: too large"), rows["n1"])
        self.assertEqual(rows["n6"][0][2], "not measured here: model.py has not measured llama-q8_0")
        self.assertIn("int8 weights, 8 rows, da8w8: at least 4.0 times as fast as llama.cpp q8_0", [row[0] for row in rows["n2"]])
        self.assertNotIn("| 1 |", printed)

    def test_a_compiled_peer_is_measured_like_the_others(self):
        rows, _ = self.said(WITHOUT_AMX, layer_table({"da8w8": 1e-3, "torchao int8": 3e-3}))
        self.assertIn(("int8 weights, 1 row: at least 1.2 times as fast as torchao int8", "3.00 (da8w8)", "met"), rows["n1"])
        self.assertIn(("int8 weights, 8 rows, da8w8: at least 4.0 times as fast as torchao int8", "3.00 (da8w8)", "**missed**"), rows["n2"])

    def test_a_number_of_rows_that_was_not_measured_is_said(self):
        rows, _ = self.said(WITHOUT_AMX, layer_table({"da8w8": 1e-3, "a16w8": 1e-3}))
        self.assertEqual(rows["n3"][0][1:], ("", "not measured here: no sample of a16w8 at 4"))

    def test_sets_below_the_best_have_peers_of_their_own(self):
        rows, _ = self.said(WITH_AMX, layer_table({"da8w8 avx2": 1e-3, "llama.cpp avx2 q8_0": 1.6e-3, "llama.cpp q8_0": 1e-4}))
        self.assertEqual(rows["8"][0], ("int8 weights, 8 rows, da8w8 avx2: at least 1.5 times as fast as llama.cpp avx2 q8_0", "1.60 (da8w8 avx2)", "met"))
        rows, _ = self.said(WITH_AMX, layer_table({"da8w8 avx2": 1e-3, "llama.cpp q8_0": 1e-4}, **{"llama.cpp avx2 q8_0": "pip fails"}))
        self.assertEqual(rows["8"][0][1:], ("", "not measured here: pip fails"))

    def test_int4_counts_only_at_the_error_of_q4_0(self):
        facts = {"da8w4 g128": 0.096, "da8w4 2l": 0.089, "llama.cpp q4_0": 0.085}
        contenders = {name: {"about": "", "bytes": WEIGHTS / 2, "error": error} for name, error in facts.items()}
        rows, _ = self.said(WITH_AMX, table("int4", contenders, {"8": {"da8w4 g128": 1e-4, "da8w4 2l": 4e-4, "llama.cpp q4_0": 9e-4}}))
        self.assertEqual(rows["5"][1][1:], ("2.25 (da8w4 2l)", "met"))

    def test_the_floor_is_the_longer_of_reads_and_operations(self):
        rows, _ = self.said(WITHOUT_AMX, layer_table({"da8w8": WEIGHTS / READS / 1e9 / 0.93}))
        self.assertEqual(rows["n2"][0][1:], ("0.93", "met"))  # 8 rows at 1600 x 10^9 operations a second: 0.17 ms, reads 0.56 ms
        rows, _ = self.said({**WITHOUT_AMX, "peaks": {"avx512_vnni": 160.0}}, layer_table({"da8w8": 2 * 8 * WEIGHTS / 160e9 / 0.5}))
        self.assertEqual(rows["n2"][0][1:], ("0.50", "**missed**"))

    def test_noise_is_named(self):
        noisy = table("int8", {"da8w8": {"about": "", "bytes": WEIGHTS, "error": 0.01}}, {"1": {"da8w8": 1e-3}}, others=0.5)
        _, printed = self.said(WITH_AMX, noisy)
        self.assertIn("Noisy, so that figures of it say little: int8 at 1.", printed)

    def test_who_shares_a_thread_with_ours_must_live_and_so_must_ours(self):
        said = {"oneDNN 2": {"ours": "changes", "peer": "right"}, "oneDNN 3": {"ours": "right", "peer": "right"},
                "llama.cpp": {"ours": "right", "peer": "dies of SIGILL after 3 products"}}
        rows, _ = self.said(WITH_AMX, layer_table({"da8w8": 1e-3}), coexistence=said)
        self.assertEqual([row[2] for row in rows["10"]], ["**missed**", "met", "**missed**"])

    def test_a_machine_without_goals_is_said(self):
        with self.assertRaises(SystemExit) as ended:
            self.said({**WITH_AMX, "kernels": ["avx2", "baseline"]})
        self.assertIn("avx2, baseline", str(ended.exception))


if __name__ == "__main__":
    unittest.main()
