"""Which levels of the sandbox this machine can have, whatever our own programs say to it."""
import ctypes
import shutil
import subprocess

LANDLOCK_CREATE_RULESET, RULESET_VERSION = 444, 1


def missing(level):
    """What lacks for the level, or None."""
    if level == 2 and not (shutil.which("bwrap") and subprocess.run(["unshare", "--user", "true"], capture_output=True).returncode == 0):
        return "bubblewrap or user namespaces are not to be had here"
    if level == 1 and ctypes.CDLL(None, use_errno=True).syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), RULESET_VERSION) < 1:
        return "this kernel has no Landlock"
    return None
