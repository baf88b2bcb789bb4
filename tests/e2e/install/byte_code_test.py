"""--compile-bytecode: byte code that the interpreter takes, compiled once, and gone with its modules."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import Index, TestCase, Wheel

FILES = {
    "demo/__init__.py": "from demo.inner.deep import VALUE\n",
    "demo/inner/__init__.py": "",
    "demo/inner/deep.py": "VALUE = 7\ndef fail():\n    raise ValueError('here')\n",
    "demo/old.py": "print 'of Python 2'\n",
    "demo/data.txt": "no module",
    "lone.py": "import demo\nVALUE = demo.VALUE + 1\n",
    "demo-1.0.data/purelib/moved/__init__.py": "VALUE = 9\n",
    "demo-1.0.data/scripts/tool.py": "#!python\nprint('tool')\n",
    "demo-1.0.data/data/share/example.py": "print('an example')\n",
}
MODULES = {"demo/__init__", "demo/inner/__init__", "demo/inner/deep", "lone", "moved/__init__"}


class Compiling(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = self.publish("index", Wheel("demo", "1.0", files=FILES))

    def publish(self, name, *wheels):
        index = Index(self.root / name)
        for wheel in wheels:
            index.add_wheel(wheel)
        return index

    def tag(self):
        done = subprocess.run([self.venv / "bin/python", "-c", "import sys; print(sys.implementation.cache_tag)"], capture_output=True,
                              text=True, check=True)
        return done.stdout.strip()

    def codes(self, venv=None):
        """module -> its byte code."""
        found = {}
        for path in self.site(venv).rglob("__pycache__/*.pyc"):
            name = path.relative_to(self.site(venv)).parent.parent / path.name.split(".")[0]
            self.assertNotIn(str(name), found)
            found[str(name)] = path
        return found

    def run_python(self, code, venv=None):
        return subprocess.run([(venv or self.venv) / "bin/python", "-v", "-B", "-c", code], capture_output=True, text=True)

    def assert_valid(self, venv=None, modules=MODULES):
        """By what the interpreter says, and by what stands in the files."""
        codes = self.codes(venv)
        self.assertEqual(set(codes), set(modules))
        for name, path in codes.items():
            data, source = path.read_bytes(), os.stat(self.site(venv) / (name + ".py"))
            self.assertEqual(int.from_bytes(data[4:8], "little"), 0, "compared by time")
            self.assertEqual(int.from_bytes(data[8:12], "little"), int(source.st_mtime), name)
            self.assertEqual(int.from_bytes(data[12:16], "little"), source.st_size, name)
        said = self.run_python("import lone, moved", venv)
        self.assertEqual(said.returncode, 0, said.stderr)
        for name in modules:
            self.assertIn(f"{codes[name]} matches {self.site(venv) / name}.py", said.stderr)

    def compile(self, *arguments, **options):
        return self.assert_ok(self.install("demo", "--compile-bytecode", *arguments, index=self.index, **options))


class ByteCode(Compiling):
    def test_the_interpreter_takes_it(self):
        self.compile()
        self.assert_valid()
        said = self.run_python("import demo.inner.deep as one\none.fail()")
        self.assertIn(f'File "{self.site()}/demo/inner/deep.py", line 3, in fail', said.stderr)

    def test_without_it_there_is_none(self):
        self.assert_ok(self.install("demo", index=self.index))
        self.assertEqual(self.codes(), {})
        self.assert_ok(self.install("demo", "--reinstall", index=self.index, env={"UV_COMPILE_BYTECODE": "1"}))
        self.assert_valid()
        self.assert_ok(self.install("demo", "--reinstall", "--no-compile", index=self.index, env={"UV_COMPILE_BYTECODE": "1"}))
        self.assertEqual(self.codes(), {})

    def test_it_is_compiled_once(self):
        self.compile()
        first = {name: path.stat().st_ino for name, path in self.codes().items()}
        other = self.root / "other-venv"
        self.make_venv(other)
        self.assert_ok(self.variant("install", "demo", "--compile-bytecode", "--index-url", self.index.url, "--python", other))
        self.assertEqual({name: path.stat().st_ino for name, path in self.codes(other).items()}, first)
        self.assert_valid(other)

    def test_a_copy_on_another_file_system_is_valid_too(self):
        if os.stat("/dev/shm").st_dev == os.stat(self.root).st_dev:
            self.skipTest("the temporary folder is on the file system of /dev/shm")
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            venv = pathlib.Path(folder) / "venv"
            self.make_venv(venv)
            self.assert_ok(self.variant("install", "demo", "--compile-bytecode", "--index-url", self.index.url, "--python", venv))
            self.assert_valid(venv)

    def test_it_goes_with_its_modules(self):
        before = self.tree()
        self.compile()
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))
        self.assertNotIn(".pyc", next(self.site().glob("demo-*.dist-info/RECORD")).read_text())
        self.assert_ok(self.variant("uninstall", "demo", "--python", self.venv))
        self.assertEqual(self.tree(), before)

    def test_pip_removes_it_too(self):
        before = self.tree()
        self.compile()
        self.assert_ok(self.peer("pip", "--python", str(self.venv / "bin/python"), "uninstall", "-y", "demo"))
        self.assertEqual({path for path in self.tree() if path.endswith((".py", ".pyc"))}, {path for path in before if path.endswith((".py", ".pyc"))})

    def tree(self):
        return {str(path.relative_to(self.venv)) for path in self.venv.rglob("*") if ".axle" not in path.parts}

    def test_another_version(self):
        self.compile()
        files = {**FILES, "demo/inner/deep.py": "VALUE = 8\n", "demo/new.py": "", "demo-2.0.data/purelib/moved/__init__.py": ""}
        files = {path: text for path, text in files.items() if not path.startswith("demo-1.0.data/")}
        self.index = self.publish("index2", Wheel("demo", "2.0", files=files))
        self.compile("-U")
        codes = self.codes()
        self.assertEqual(set(codes), MODULES | {"demo/new"})
        self.assertEqual(self.run_python("import demo; print(demo.VALUE)").stdout, "8\n")

    def test_stale_byte_code_is_replaced_and_of_others_kept(self):
        cache = self.site() / "__pycache__"
        cache.mkdir()
        tag = self.tag()
        (cache / f"lone.{tag}.pyc").write_bytes(b"stale")
        (cache / f"mine.{tag}.pyc").write_bytes(b"mine")
        self.compile()
        self.assertEqual((cache / f"mine.{tag}.pyc").read_bytes(), b"mine")
        (cache / f"mine.{tag}.pyc").unlink()
        self.assert_valid()

    def test_what_a_wheel_brings_along_stays(self):
        tag = self.tag()
        own = f"demo/__pycache__/__init__.{tag}.pyc"
        self.index = self.publish("index3", Wheel("demo", "1.0", files={**FILES, own: "its own"}))
        self.compile()
        self.assertEqual((self.site() / own).read_text(), "its own")
        self.assertIn(own, next(self.site().glob("demo-*.dist-info/RECORD")).read_text())

    def test_dry_run_compiles_nothing(self):
        self.compile("--dry-run")
        self.assertEqual(self.codes(), {})
        self.assertEqual(list(self.root.rglob("byte-code")), [])

    def test_an_unpacked_wheel_that_was_damaged_is_compiled_again(self):
        self.compile()
        stored = next(path for path in self.root.rglob("wheels/*/tree/lone.py"))
        stored.unlink()
        self.assert_ok(self.install("demo", "--reinstall", "--compile-bytecode", index=self.index))
        self.assert_valid()

    def test_a_module_in_two_packages(self):
        shared = {"shared/__init__.py": "VALUE = 1\n"}
        self.index = self.publish("index4", Wheel("one", "1.0", files={**shared, "shared/one.py": ""}),
                                  Wheel("two", "1.0", files={**shared, "shared/two.py": ""}))
        self.assert_ok(self.install("one", "two", "--compile-bytecode", index=self.index))
        self.assertEqual(set(self.codes()), {"shared/__init__", "shared/one", "shared/two"})
        said = self.run_python("import shared.one, shared.two")
        self.assertIn(f"{self.codes()['shared/__init__']} matches", said.stderr)
        self.assert_ok(self.variant("uninstall", "one", "--python", self.venv))
        self.assertEqual(set(self.codes()), {"shared/__init__", "shared/two"})


class BadInterpreter(Compiling):
    """One that answers like any other, and then crashes, hangs or writes nonsense where it shall compile."""

    def replace_interpreter(self, body):
        """`body` gets the list of modules as its last word: source, target and name of each, ended by NUL."""
        python = self.venv / "bin/python"
        real = python.resolve()
        for name in ("python", "python3"):
            (self.venv / "bin" / name).unlink()
        script = self.root / "compile.py"
        script.write_text("import os, pathlib, sys\nwords = pathlib.Path(sys.argv[1]).read_bytes().decode().split('\\0')[:-1]\n"
                          "modules = list(zip(words[0::3], words[1::3], words[2::3]))\n" + body)
        python.write_text(f'#!/bin/bash\ncase "$*" in *py_compile*) for last; do :; done; exec "{real}" -I "{script}" "$last";; esac\n'
                          f'exec -a "$0" "{real}" "$@"\n')
        python.chmod(0o755)

    def check(self, body, *words):
        """The packages are installed, without the byte code that there is none of, and nothing else is harmed."""
        self.replace_interpreter(body)
        outside = self.root / "outside"
        outside.write_text("of the user")
        result = self.compile()
        for word in words:
            self.assertIn(word, result.err)
        self.assertEqual(self.codes(), {})
        self.assertEqual(self.python("import demo, lone; print(demo.VALUE, lone.VALUE)"), "7 8")
        self.assert_ok(self.variant("check", "--deep", "--python", self.venv))
        self.assertEqual(outside.read_text(), "of the user")
        self.assertEqual([*self.root.rglob("store/work-*")], [])
        self.assert_ok(self.variant("cache", "verify"))

    def test_it_crashes(self):
        for end in ("os.kill(os.getpid(), 11)", "os.kill(os.getpid(), 9)", "os._exit(1)", "raise MemoryError"):
            with self.subTest(end):
                self.setUp()
                self.check(end + "\n", "not compiled, because the interpreter crashed", "demo/inner/deep.py", "lone.py")

    def test_it_crashes_at_one_module(self):
        self.replace_interpreter("import py_compile\nfor source, target, name in modules:\n    if name == 'lone.py': os.kill(os.getpid(), 11)\n"
                                 "    try: py_compile.compile(source, cfile=target, dfile=name, doraise=True)\n    except py_compile.PyCompileError: pass\n")
        result = self.compile()
        self.assertIn("interpreter crashed or took longer than 60 s: lone.py\n", result.err)
        self.assertEqual(set(self.codes()), MODULES - {"lone"})

    @unittest.skipUnless(os.environ.get("AXLE_SOAK") == "full", "a module has a minute: in ./dev soak")
    def test_it_hangs(self):
        self.index = self.publish("index5", Wheel("demo", "1.0", files={"demo.py": "VALUE = 7\n"}))  # two would have three minutes
        self.replace_interpreter("import time\ntime.sleep(1000)\n")
        self.assertIn("took longer than 60 s: demo.py\n", self.compile().err)
        self.assertEqual(self.codes(), {})
        self.assertEqual(self.python("import demo; print(demo.VALUE)"), "7")
        self.assertEqual([*self.root.rglob("store/work-*")], [])

    def test_it_writes_nonsense(self):
        every = "for source, target, name in modules:\n    target = pathlib.Path(target)\n    "
        header = "import importlib.util, struct\nmagic = importlib.util.MAGIC_NUMBER\n"
        time = "int(os.stat(source).st_mtime)"
        for write in ("target.write_bytes(b'nonsense')", "target.write_bytes(b'')", "target.mkdir()", "os.mkfifo(target)",
                      f"target.symlink_to({str(self.root / 'outside')!r})", "target.symlink_to(source)",
                      f"target.write_bytes(b'abcd' + struct.pack('<3I', 0, {time}, os.stat(source).st_size) + b'c' * 9)",
                      f"target.write_bytes(magic + struct.pack('<3I', 0, {time} + 1, os.stat(source).st_size) + b'c' * 9)",
                      f"target.write_bytes(magic + struct.pack('<3I', 0, {time}, os.stat(source).st_size + 1) + b'c' * 9)",
                      f"target.write_bytes(magic + struct.pack('<3I', 1, {time}, os.stat(source).st_size) + b'c' * 9)",
                      f"target.write_bytes(magic + struct.pack('<3I', 0, {time}, os.stat(source).st_size))"):
            with self.subTest(write):
                self.setUp()
                self.check(header + every + write + "\n",
                           "what the interpreter wrote is not byte code", "demo/__init__.py", "lone.py")

    def test_it_writes_nothing(self):
        self.check("")

    def test_it_writes_more_than_it_was_asked_for(self):
        self.check("for source, target, name in modules:\n    pathlib.Path(target).with_name('more.pyc').write_bytes(b'more')\n")
        self.assertEqual([*self.site().rglob("more.pyc")], [])


if __name__ == "__main__":
    unittest.main()
