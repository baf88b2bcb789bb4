"""Models in the folder of a package, and in zip archives, which are unpacked into the cache; none of the hostile ones is."""

import os
import pathlib
import shutil
import sys
import unittest
import zipfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parents[1]), str(pathlib.Path(__file__).resolve().parents[1] / "install")]
from model_case import ModelCase
from hostile_archive import Archive
from hostile_wheels import CASES
from tiny_models import make_decoder, make_encoder, write_decoder_folder, write_decoder_gguf, write_encoder_folder

TEXT = "The cat sat on the mat."


def zip_folder(folder, archive, below=""):
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as out:
        for path in sorted(folder.rglob("*")):
            out.write(path, below + str(path.relative_to(folder)))
    return archive


class ArchiveCase(ModelCase):
    def setUp(self):
        super().setUp()
        self.models = self.root / "home/.cache/axle/models"
        self.package = self.root / "package"
        self.package.mkdir()
        (self.package / "__init__.py").write_text("")

    def kept(self):
        """The folders of unpacked models, and what is unfinished."""
        return sorted(path.name for path in self.models.glob("*"))

    def everything(self):
        return sorted(str(path) for path in self.root.rglob("*"))


class Places(ArchiveCase):
    def test_a_folder_with_one_gguf_file(self):
        file = write_decoder_gguf(self.package / "tiny.Q8_0.gguf", make_decoder("llama", 5), "Q8_0")
        right = self.answer(file, "ab")
        self.assertEqual(self.answer(self.package, "ab"), right)
        self.assertEqual(self.assert_ok(self.ask("info", self.package, "--json")).json["model"]["type"], "llama")
        shutil.copy(file, self.package / "another.gguf")
        self.assert_refused(self.generate(self.package, "ab"), "holds 2 GGUF files", "another.gguf")
        self.assertEqual(self.kept(), [])

    def test_a_folder_of_hugging_face_is_itself_whatever_else_is_in_it(self):
        folder = write_decoder_folder(self.root / "model", make_decoder("llama", 6))
        right = self.answer(folder, "ab")
        (folder / "model.zip").write_bytes(b"no archive")
        (folder / "other.gguf").write_bytes(b"no model")
        self.assertEqual(self.answer(folder, "ab"), right)

    def test_an_archive_is_unpacked_once(self):
        folder = write_encoder_folder(self.root / "model", make_encoder(1))
        right = self.vectors(folder, TEXT)
        archive = zip_folder(folder, self.package / "model.zip")
        self.assertEqual(self.vectors(archive, TEXT), right)
        (kept,) = self.kept()
        before = (self.models / kept / "model.safetensors").stat()
        os.utime(self.models / kept, (0, 0))
        self.assertEqual(self.vectors(self.package, TEXT), right)
        self.assertEqual(self.kept(), [kept])
        self.assertEqual((self.models / kept / "model.safetensors").stat().st_ino, before.st_ino)
        self.assertGreater((self.models / kept).stat().st_mtime, 0)  # the last use
        self.assertEqual(self.assert_ok(self.ask("info", archive, "--json")).json["model"]["type"], "bert")

        info = self.assert_ok(self.variant("cache", "info", "--json")).json
        self.assertIn("models", str(info))
        os.utime(self.models / kept, (0, 0))
        self.assert_ok(self.variant("cache", "prune"))
        self.assertEqual(self.kept(), [])
        self.assertEqual(self.vectors(archive, TEXT), right)

    def test_another_content_is_another_model(self):
        archive = self.package / "model.zip"
        zip_folder(write_encoder_folder(self.root / "one", make_encoder(1)), archive)
        first = self.vectors(archive, TEXT)
        zip_folder(write_encoder_folder(self.root / "two", make_encoder(2)), archive)
        self.assertNotEqual(self.vectors(archive, TEXT), first)
        self.assertEqual(len(self.kept()), 2)

    def test_an_archive_of_one_folder_and_one_of_a_gguf_file(self):
        folder = write_encoder_folder(self.root / "model", make_encoder(3))
        self.assertEqual(self.vectors(zip_folder(folder, self.root / "a.zip", "minilm/"), TEXT), self.vectors(folder, TEXT))
        decoder = self.root / "decoder"
        decoder.mkdir()
        file = write_decoder_gguf(decoder / "tiny.gguf", make_decoder("llama", 4))
        self.assertEqual(self.answer(zip_folder(decoder, self.root / "b.zip"), "ab"), self.answer(file, "ab"))

    def test_without_a_cache_nothing_stays(self):
        folder = write_encoder_folder(self.root / "model", make_encoder(1))
        archive = zip_folder(folder, self.package / "model.zip")
        temporary = self.root / "tmp"
        temporary.mkdir()
        right = self.vectors(folder, TEXT)
        for options in (["--no-cache"], ["--cache-dir", "/proc/nothing"]):
            result = self.assert_ok(self.ask("embed", archive, "--text", TEXT, "--mode", "float", "--json", *options, env={"TMPDIR": str(temporary)}))
            self.assertEqual(result.json["vectors"], right)
        self.assertEqual((list(temporary.iterdir()), self.kept()), ([], []))

    def test_what_holds_no_model(self):
        self.assert_refused(self.embed(self.package, TEXT), str(self.package), "config.json")
        zip_folder(self.package, self.package / "model.zip")
        self.assert_refused(self.embed(self.package / "model.zip", TEXT), str(self.package / "model.zip"), "config.json")
        shutil.copy(self.package / "model.zip", self.package / "another.zip")
        self.assert_refused(self.embed(self.package, TEXT), "holds 2 archives", "another.zip")


class HostileArchives(ArchiveCase):
    def test_archives_in_which_anything_lies(self):
        """The wheels of hostile_wheels.py, some of which are sound as archives: they hold no model."""
        path = self.package / "model.zip"
        path.write_bytes(b"")
        self.assert_refused(self.embed(path, TEXT), str(path))
        before = [one for one in self.everything() if str(self.models) not in one]
        for case in CASES:
            with self.subTest(case.group + ": " + case.what):
                archive = Archive()
                case.make(archive)
                path.write_bytes(archive.bytes())
                result = self.assert_refused(self.embed(path, TEXT), str(path))
                self.assertFalse([c for c in result.err if c < " " and c != "\n"], result.err)
                self.assertFalse([name for name in self.kept() if name.startswith("work-")])
                self.assertEqual([one for one in self.everything() if str(self.models) not in one], before)
        for kept in self.models.rglob("*"):
            self.assertFalse(kept.is_symlink(), kept)

    def test_an_archive_cut_anywhere(self):
        whole = zip_folder(write_encoder_folder(self.root / "model", make_encoder(1)), self.root / "whole.zip").read_bytes()
        path = self.package / "model.zip"
        for length in range(0, len(whole), len(whole) // 25):
            path.write_bytes(whole[:length])
            self.assert_refused(self.embed(path, TEXT), str(path))
        self.assertEqual(self.kept(), [])

    def test_what_deflates_to_nearly_nothing(self):
        path = self.package / "model.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
            out.writestr("config.json", b"\0" * (100 << 20))
        self.assert_refused(self.embed(path, TEXT), str(path))
        self.assertEqual(self.kept(), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
