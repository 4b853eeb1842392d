"""A network of its own for a script: its loopback has other addresses, too, private and public ones."""

import os
import subprocess
import sys

MARK = "TESTS_OWN_NETWORK"


def own_network(*addresses):
    """Starts the script again where the loopback has these addresses. Needs the right to make a network namespace: root has it, and
    others take it in a user namespace. False: this machine gives it to neither."""
    if MARK in os.environ:
        for address in addresses:
            subprocess.run(["ip", "addr", "add", address + ("/128" if ":" in address else "/32"), "dev", "lo"], check=True)
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
        return True
    user = [] if os.geteuid() == 0 else ["--user", "--map-current-user", "--keep-caps"]
    unshare = ["unshare", *user, "--net"]
    if subprocess.run([*unshare, "ip", "link", "set", "lo", "up"], capture_output=True).returncode == 0:
        os.environ[MARK] = "1"
        os.execvp("unshare", [*unshare, sys.executable, *sys.argv])
    return False
