#!/usr/bin/python3
# test: plain only
"""The installed server and worker under the systemd units that are shipped, with all their hardening."""

import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from boot import Systemd  # noqa: E402
from builds import BUILD  # noqa: E402
from ports import free_ports  # noqa: E402
from server import ROOT, Client, PASSWORD  # noqa: E402
import tap  # noqa: E402

PREFIX = "/opt/patchmate"
PORT = free_ports(1)[0]
BIN = f"{PREFIX}/bin"
DATA = "/var/lib/patchmate/data"


def install(folder):
    """`make install` into folder + PREFIX, of the programs as they were built; the folder of units."""
    subprocess.run(["make", "-s", "-C", ROOT, f"BUILD={BUILD}", "install-only", f"PREFIX={PREFIX}", f"DESTDIR={folder}"],
                   check=True, stdout=subprocess.DEVNULL)
    return folder / PREFIX[1:] / "lib/systemd/system"


def unit_texts(units):
    texts = {p.name: p.read_text() for p in units.glob("*.service")}
    server, worker = texts["patchmate-server.service"], texts["patchmate-worker.service"]
    assert "127.0.0.1:8080" in server and "http://127.0.0.1:8080" in worker
    texts["patchmate-server.service"] = server.replace("127.0.0.1:8080", f"127.0.0.1:{PORT}")
    texts["patchmate-worker.service"] = worker.replace("127.0.0.1:8080", f"127.0.0.1:{PORT}")
    return texts


class Installed:
    """What kit_py's Client needs to know of a server."""
    port = PORT


def submit(client):
    """The baseline against itself: one build."""
    reply = client.api("POST", "/tests", {
        "title": "under the unit", "commit": "main", "tc": "nodes=200", "workload": "fixed", "pairs_max": 4, "batch_pairs": 2})
    if reply.status != 201:
        raise RuntimeError(str(reply))
    test = reply.json["id"]
    approved = client.api("POST", f"/tests/{test}/approve")
    if approved.status >= 300:
        raise RuntimeError(str(approved))
    return test


def wait_for(what, limit_s=1800):
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        value = what()
        if value:
            return value
        time.sleep(0.3)
    return None


def start_server(systemd):
    systemd.run("install", "-d", "-m", "700", "-o", "patchmate", "-g", "patchmate", "/var/lib/patchmate", check=True)
    systemd.run("sh", "-c", f"echo '{PASSWORD}' >/var/lib/patchmate/pw; chown patchmate /var/lib/patchmate/pw", check=True)
    systemd.run("setpriv", "--reuid=patchmate", "--regid=patchmate", "--clear-groups", f"{BIN}/patchmate-server", "init",
                DATA, "--admin", "root", "--admin-password-file", "/var/lib/patchmate/pw", "--self-approval", check=True)
    return systemd.run("systemctl", "start", "patchmate-server")


def finished(client, test):
    document = client.api("GET", f"/tests/{test}").json
    return document if document["state"] == "finished" else None


class World:
    """The booted systemd and what the tests, which run in order, leave for each other."""
    systemd = client = None


def systemd_analyze_finds_nothing_wrong_with_the_units():
    for name in ("patchmate-server.service", "patchmate-worker.service"):
        checked = World.systemd.run("systemd-analyze", "verify", "--man=no", f"/run/systemd/system/{name}")
        tap.equal((checked.returncode, checked.stdout.strip()), (0, ""), name)


def the_installed_server_gets_ready_under_its_unit():
    started = start_server(World.systemd)
    tap.true(started.returncode == 0, started.stdout + World.systemd.log_of("patchmate-server"))
    World.client = Client(Installed)
    tap.equal(World.client.login().status, 200, "signing in")


def under_its_unit_only_machines_of_people_with_a_role_get_tasks_until_the_operator_has_chosen():
    trust = World.client.api("GET", "/health").json["trust"]
    tap.equal((trust["mode"], trust["reached"]["reason"]), ("roles", "started with PATCHMATE_OUTSIDE"))
    tap.contains(World.systemd.log_of("patchmate-server"), "Only machines of people with a role get tasks")
    World.systemd.run("setpriv", "--reuid=patchmate", "--regid=patchmate", "--clear-groups", f"{BIN}/patchmate-server", "set",
                      DATA, "trust", "private", check=True)
    tap.equal(World.client.api("GET", "/health").json["trust"]["mode"], "private")


def the_installed_worker_builds_and_plays_in_its_sandbox_under_its_unit():
    test = submit(World.client)
    World.systemd.run("systemctl", "start", "patchmate-worker", check=True)
    document = wait_for(lambda: finished(World.client, test))
    tap.true(document and document["result"] == "completed", f"{World.systemd.log_of('patchmate-worker')}\n{document}")


def stopping_the_units_ends_both_cleanly():
    for name in ("patchmate-worker", "patchmate-server"):
        World.systemd.run("systemctl", "stop", name, check=True)
        shown = World.systemd.run("systemctl", "show", "-p", "Result", name).stdout
        tap.equal(shown.strip(), "Result=success", World.systemd.log_of(name))


def the_data_that_the_server_leaves_pass_its_own_check():
    World.systemd.run(f"{BIN}/patchmate-server", "check", DATA, check=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        units = install(pathlib.Path(folder))
        with Systemd(unit_texts(units), pathlib.Path(folder, "opt"), ["patchmate", "patchmate-worker"]) as World.systemd:
            tap.run(systemd_analyze_finds_nothing_wrong_with_the_units,
                    the_installed_server_gets_ready_under_its_unit,
                    under_its_unit_only_machines_of_people_with_a_role_get_tasks_until_the_operator_has_chosen,
                    the_installed_worker_builds_and_plays_in_its_sandbox_under_its_unit,
                    stopping_the_units_ends_both_cleanly,
                    the_data_that_the_server_leaves_pass_its_own_check)


if __name__ == "__main__":
    main()
