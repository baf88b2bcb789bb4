"""Two publishers at once to a storage: what one wrote, the other reads again before it replaces a page."""

import concurrent.futures
import json
import pathlib
import sys
import threading
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from storage import Storage
from support import TestCase, Wheel, levels_document

DOCUMENT = levels_document()
PLACE = "s3://wheels/team/a"


class TwoPublishers(TestCase):
    def setUp(self):
        super().setUp()
        self.storage = Storage(self)

    def add(self, *wheels, **options):
        return self.variant("index", "add", *wheels, "--out", PLACE, env=self.storage.env, **options)

    def page(self, path):
        return self.storage.objects()[f"team/a/simple/{path}"][0].decode()

    def listed(self, project):
        """What JSON and HTML say, which must be the same."""
        names = [one["filename"] for one in json.loads(self.page(f"{project}/index.json"))["files"]]
        for form in (f"{project}/", f"{project}/index.html"):
            self.assertEqual([one for one in names if f">{one}</a>" not in self.page(form)], [], form)
        return set(names)

    def roots(self):
        names = {one["name"] for one in json.loads(self.page("index.json"))["projects"]}
        for name in names:
            self.assertIn(f'"{name}/"', self.page("index.html"))
        return names

    def test_lint_looks_at_each_object(self):
        folder = self.root / "dist"
        self.assert_ok(self.add(*(Wheel(name, "1.0").write(folder) for name in ("demo", "gone"))))
        lint = lambda: self.variant("index", "lint", PLACE, "--json", env=self.storage.env)  # noqa: E731
        self.assertEqual(self.assert_ok(lint()).json["problems"], [])
        del self.storage.buckets["wheels"]["team/a/simple/gone/gone-1.0-py3-none-any.whl"]
        told = lint()
        self.assertEqual((told.code, [(one["code"], one["subject"]) for one in told.json["problems"]]), (1, [("missing_file", "gone-1.0-py3-none-any.whl")]))
        # What it does not answer for is neither there nor gone.
        self.storage.fault = lambda request: (403, {}, b"") if request.method == "HEAD" and request.key.endswith("demo-1.0-py3-none-any.whl") else None
        told = lint()
        self.assertEqual(told.code, 1)
        self.assertIn(("unreadable_file", "demo-1.0-py3-none-any.whl"), [(one["code"], one["subject"]) for one in told.json["problems"]])

    def test_nothing_is_lost(self):
        folder = self.root / "dist"
        for number in range(8):
            Wheel("demo", f"{number}.0").write(folder), Wheel("demo", "50.0", f"l{number}", levels_document((), {f"l{number}": "v3"})).write(folder)
            Wheel(f"own{number}", "1.0").write(folder)

        def publish(part):
            for number in range(part, 8, 2):
                self.assert_ok(self.add(*folder.glob(f"demo-{number}.0-*"), *folder.glob(f"*-l{number}.whl"), *folder.glob(f"own{number}-*")))

        both = threading.Barrier(2)

        def gate(request):
            if request.what == "PUT team/a/simple/demo/index.json" and not both.broken and not met:
                both.wait(60)
                met.append(request)
        met = []
        self.storage.gate = gate
        with concurrent.futures.ThreadPoolExecutor() as pool:
            list(pool.map(publish, (0, 1)))
        self.assertEqual(self.listed("demo"), {path.name for path in folder.glob("demo-*")} | {"demo-50.0-variants.json"})
        variants = json.loads(self.page("demo/demo-50.0-variants.json"))["variants"]
        self.assertEqual(set(variants), {f"l{number}" for number in range(8)})
        self.assertEqual(self.roots(), {"demo"} | {f"own{number}" for number in range(8)})
        # Whoever comes second is refused at the first file that both write, and begins again.
        both = ("simple/demo/demo-50.0-variants.json", "simple/demo/index.json")
        self.assertGreater(sum(what.startswith("PUT") and what.endswith(both) for what in self.storage.seen), 16, "they never met")

    def meet_at(self, key):
        """Another publisher is done between the first one's reading of a page and its writing of `key`."""
        path = Wheel("demo", "2.0").write(self.root / "second")
        met = threading.Event()

        def gate(request):
            if request.method == "PUT" and request.key.endswith(key) and not met.is_set():
                met.set()
                self.assert_ok(self.add(path))
        self.storage.gate = gate
        self.assert_ok(self.add(Wheel("demo", "1.0").write(self.root / "first")))
        self.storage.gate = lambda request: None
        self.assertTrue(met.is_set())
        self.assertEqual(self.listed("demo"), {"demo-1.0-py3-none-any.whl", "demo-2.0-py3-none-any.whl"}, key)
        self.assertEqual(self.roots(), {"demo", "base"})

    def test_they_meet_at_each_object(self):
        for key in ("demo-1.0-py3-none-any.whl", "simple/demo/index.json", "simple/demo/index.html", "simple/demo/", "simple/index.json", "simple/index.html", "simple/"):
            self.storage.objects().clear()
            self.assert_ok(self.add(Wheel("base", "1.0").write(self.root / "base")))
            with self.subTest(key):
                self.meet_at(key)

    def test_the_first_two_of_an_index(self):
        path = Wheel("other", "1.0").write(self.root / "second")
        met = threading.Event()

        def gate(request):
            if request.method == "PUT" and not met.is_set():
                met.set()
                self.assert_ok(self.add(path))
        self.storage.gate = gate
        self.assert_ok(self.add(Wheel("demo", "1.0").write(self.root / "first")))
        self.assertEqual(self.roots(), {"demo", "other"})

    def test_what_was_cut_off_between_two_forms_of_a_page_is_completed_by_the_same_command(self):
        def cut_off(key):
            self.storage.fault = lambda request: (403, {}, b"") if request.method == "PUT" and request.key.endswith(key) else None
        self.assert_ok(self.add(Wheel("base", "1.0").write(self.root / "base")))
        demo = Wheel("demo", "1.0").write(self.root / "first")
        cut_off("simple/index.html")
        self.assert_fails(self.add(demo), 1, "403")
        self.assertIn('"demo"', self.page("index.json"))
        self.storage.fault = lambda request: None
        self.assert_ok(self.add(demo))
        self.assertEqual(self.roots(), {"base", "demo"})
        update = ("index", "update", Wheel("late", "1.0").write(self.root / "more").parent, "--out", PLACE)
        for form in ("simple/late/index.html", "simple/index.json", "simple/index.html"):
            with self.subTest(form):
                cut_off(form)
                self.assert_fails(self.variant(*update, env=self.storage.env), 1, "403")
                self.storage.fault = lambda request: None
                self.assert_ok(self.variant(*update, env=self.storage.env))
                self.assertEqual((self.roots(), self.listed("late")), ({"base", "demo", "late"}, {"late-1.0-py3-none-any.whl"}))
                self.assert_ok(self.variant("index", "remove", "late", "--out", PLACE, env=self.storage.env))
        cut_off("simple/demo/index.html")
        yank = ("index", "yank", "demo", "--reason", "broken", "--out", PLACE)
        self.assert_fails(self.variant(*yank, env=self.storage.env), 1, "403")
        self.storage.fault = lambda request: None
        self.assertNotIn("broken", self.page("demo/index.html"))
        self.assert_ok(self.variant(*yank, env=self.storage.env))
        self.assertIn("broken", self.page("demo/index.html"))

    def test_a_storage_that_compares_nothing_is_used_with_a_warning(self):
        self.storage.conditional = False
        told = self.assert_ok(self.add(Wheel("demo", "1.0").write(self.root / "first")))
        self.assertIn("does not compare a page", told.err)
        self.assertEqual(self.listed("demo"), {"demo-1.0-py3-none-any.whl"})


if __name__ == "__main__":
    unittest.main()
