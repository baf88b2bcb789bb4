"""Which of our devices this machine has. Knows nothing of installers."""

import os

# Every device that this provider knows, most preferred first. Put your models here.
KNOWN = ("zero", "null", "full", "random", "urandom", "kmsg", "mem", "port")


def find(class_folder):
    """The known ones in a class folder of sysfs; a folder that is not there or cannot be read has none."""
    # `dev` is in the folder of every device that has a node: "1:5".
    return [name for name in KNOWN if os.path.exists(os.path.join(class_folder, name, "dev"))]
