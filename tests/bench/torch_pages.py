"""Pages of torch and its kin as large as those of its index, out of the table that the family is made of."""

import hashlib
import json
import re


def first_version(text):
    """"0.24.x" -> "0.24.0", "2.14.0: 0.29.0; …" -> "0.29.0": a version that the table names."""
    return re.findall(r"\d+\.\d+\.[\dx]+", text)[-1].replace("x", "0")


def publish_stack(source, folder):
    """torch and its kin as their index has them: one page in HTML with 911 links each, the newest first."""
    table = json.loads((source / "index/families/torch-builds.json").read_text())
    pythons = ["cp311", "cp39", "cp310", "cp312", "cp313", "cp313t", "cp314", "cp314t"]
    platforms = {"linux_x86_64": "manylinux_2_28_x86_64", "linux_aarch64": "manylinux_2_28_aarch64",
                 "windows_amd64": "win_amd64", "windows_arm64": "win_arm64", "macos_arm64": "macosx_11_0_arm64"}
    digest = hashlib.sha256(b"").hexdigest()
    for name in ("torch", "torchvision", "torchaudio"):
        page = folder / name
        page.mkdir(parents=True)
        links = {}
        for release, python, build in ((release, python, build) for release in table["releases"]
                                       for python in pythons for build in release["builds"]):
            version = release["version"] + ".0" if name == "torch" else first_version(release[name])
            wheel = f"{name}-{version}+{build['label']}-{python}-{python}-{platforms[build['platform']]}.whl"
            if wheel in links or len(links) == 911:
                continue
            metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}+{build['label']}\n".encode()
            mark = "sha256=" + hashlib.sha256(metadata).hexdigest()
            if python == "cp311":
                (page / (wheel + ".metadata")).write_bytes(metadata)
            links[wheel] = (f'    <a href="{wheel.replace("+", "%2B")}#sha256={digest}" data-dist-info-metadata="{mark}" '
                            f'data-core-metadata="{mark}" data-upload-time="2026-04-02T10:11:12Z">{wheel}</a><br/>\n')
        (page / "index.html").write_text(f"<!DOCTYPE html>\n<html>\n  <body>\n    <h1>Links for {name}</h1>\n"
                                         f"{''.join(links.values())}  </body>\n</html>\n<!--TIMESTAMP 1754321098-->\n")
        assert len(links) == 911, (name, len(links))
