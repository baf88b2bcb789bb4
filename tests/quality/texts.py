"""The texts of `./dev quality`: documentation in named Debian packages, divided by file into what models learn and what they are measured on.

Packages are downloaded and unpacked into a folder, not installed. All are under free licences.
"""

import gzip
import hashlib
import pathlib
import subprocess

# package -> the files in it that are plain text
SOURCES = {
    "perl-doc": "usr/share/perl/*/pod/*.pod",
    "python3.11-doc": "usr/share/doc/python3.11/html/_sources/**/*.rst.txt",
    "git-doc": "usr/share/doc/git-doc/**/*.txt",
    "debian-policy": "usr/share/doc/debian-policy/policy.txt.gz",
    "debian-reference-en": "usr/share/debian-reference/debian-reference.en.txt.gz",
    "developers-reference": "usr/share/developers-reference/developers-reference.txt.gz",
}
HELD_OUT_PART = 16  # one file in so many
HELD_OUT_FILE_BYTES = 8 << 10  # the most of one file, so that no file is most of the measurement
HELD_OUT_BYTES = 160 << 10
CALIBRATION_FILE_BYTES = 1 << 10
CALIBRATION_BYTES = 16 << 10  # some 5,000 tokens; AWQ takes 4,096


def download(folder):
    """Unpacks the packages into folder/PACKAGE; the names of their archives, which say the versions."""
    archives = folder / "archives"
    missing = [name for name in SOURCES if not (folder / name).is_dir()]
    if missing:
        archives.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "-qq", *missing], cwd=archives, check=True)
    for name in missing:
        (archive,) = archives.glob(f"{name}_*.deb")
        subprocess.run(["dpkg-deb", "-x", archive, folder / name], check=True)
    return [next(archives.glob(f"{name}_*.deb")).name.split("_")[1].replace("%3a", ":") for name in SOURCES]


def read_text(path):
    """Lines in ASCII: the tokenizer's training splits words by ASCII's classes alone."""
    data = path.read_bytes()
    data = gzip.decompress(data) if path.suffix == ".gz" else data
    return "".join(line.rstrip() + "\n" for line in data.decode(errors="replace").splitlines() if line.isascii())


def is_held_out(name):
    """By the file's name alone, so that a new version of a package changes nothing for the others."""
    return hashlib.sha256(name.encode()).digest()[0] % HELD_OUT_PART == 0


def take_parts(texts, bytes_of_file, bytes_of_all):
    """The first part of each text, at whole lines, until there is enough of all."""
    taken, left = [], bytes_of_all
    for text in texts:
        part = text[:min(bytes_of_file, left)]
        part = part[:part.rfind("\n") + 1]
        taken.append(part)
        left -= len(part)
    return "".join(taken)


def divide(files):
    """files: name -> text. -> {"training", "held_out", "calibration"}: texts; calibration is a part of training."""
    # Not in the order of packages: the first files alone would be of one package.
    order = sorted(files, key=lambda name: hashlib.sha256(b"order" + name.encode()).digest())
    learned = [files[name] for name in order if not is_held_out(name)]
    held_out = [files[name] for name in order if is_held_out(name)]
    return {"training": "".join(learned), "held_out": take_parts(held_out, HELD_OUT_FILE_BYTES, HELD_OUT_BYTES),
            "calibration": take_parts(learned, CALIBRATION_FILE_BYTES, CALIBRATION_BYTES)}


def make_texts(folder):
    """Writes training.txt, held_out.txt and calibration.txt into the folder; the packages' versions, as {package: version}."""
    packages = folder / "packages"
    versions = dict(zip(SOURCES, download(packages)))
    files = {}
    for package, pattern in SOURCES.items():
        for path in sorted((packages / package).glob(pattern)):
            files[path.relative_to(packages).as_posix()] = read_text(path)
    for name, text in divide(files).items():
        pathlib.Path(folder / f"{name}.txt").write_text(text)
    return versions
