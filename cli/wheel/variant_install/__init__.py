"""Axle's program `variant`, which this wheel puts beside the interpreter."""

import os
import sysconfig

__all__ = ["find_program"]


def find_program():
    """The path of `variant`: of the environment, or of the user's own scripts (pip install --user)."""
    folders = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", "posix_user")]
    # pip install --target DIR: DIR/bin.
    folders.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin"))
    for folder in folders:
        program = os.path.join(folder, "variant")
        if os.access(program, os.X_OK):
            return program
    raise FileNotFoundError("the program `variant` is in none of " + ", ".join(folders) + ": reinstall variant-install")
