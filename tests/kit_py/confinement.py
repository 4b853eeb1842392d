"""The levels of the sandbox that this machine can have, found without our own programs."""
import ctypes
import errno
import platform
import shutil
import struct
import subprocess

LANDLOCK_CREATE_RULESET, RULESET_VERSION = 444, 1
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def landlock_version():
    """0 or less: there is none."""
    return ctypes.CDLL(None, use_errno=True).syscall(LANDLOCK_CREATE_RULESET, None, ctypes.c_size_t(0), RULESET_VERSION)


def give_up_landlock():
    """From now on this process and its children find a kernel without Landlock: for preexec_fn. On x86-64 and ARM alike."""
    give_up(LANDLOCK_CREATE_RULESET, errno.EOPNOTSUPP)


def give_up_unshare():
    """From now on this process and its children can make no namespaces by unshare(): for preexec_fn."""
    give_up({"x86_64": 272, "aarch64": 97}[platform.machine()], errno.EPERM)


def give_up(call, problem):
    load, jump_if_equal, reply, refuse = 0x20, 0x15, 0x06, 0x00050000 | problem
    steps = [(load, 0, 0, 0), (jump_if_equal, 0, 1, call), (reply, 0, 0, refuse), (reply, 0, 0, 0x7fff0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def makes_namespaces():
    return subprocess.run(["unshare", "--user", "--mount", "true"], capture_output=True).returncode == 0


def missing(level):
    """What the machine lacks for the level, or None."""
    if level == 2 and not (shutil.which("bwrap") and subprocess.run(["unshare", "--user", "true"], capture_output=True).returncode == 0):
        return "bubblewrap or user namespaces are not to be had here"
    if level == 1 and landlock_version() < 1:
        return "this kernel has no Landlock"
    return None
