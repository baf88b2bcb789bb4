"""The index that pip is configured for."""

import subprocess

from support import PYTHON


def configured_index():
    asked = subprocess.run([PYTHON, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True)
    if asked.returncode == 0:
        return asked.stdout.strip()
    asked = subprocess.run([PYTHON, "-I", "-c", "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"],
                           capture_output=True, text=True, check=True)
    return asked.stdout.strip()
