"""python -m variant_install: as the program `variant`."""

import os
import sys

from variant_install import find_program

program = find_program()
os.execv(program, [program, *sys.argv[1:]])
