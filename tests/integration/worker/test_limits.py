#!/usr/bin/python3
# test: sanitized only
"""What a worker lets out of its hands, whatever its server says: where requests go, the user's token, and lines of its log.

What programs may use of memory and disk is in test_hostile.py and tests/unit/worker/test_worker_usage.c."""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
import confinement
import server as kit
import tap
from fake_server import FakeServer
from worker import Worker

TOKEN = "pm_user_token_of_a_volunteer"
FOLDER = tempfile.TemporaryDirectory(prefix="patchmate-limits-")
CERTIFICATE = pathlib.Path(FOLDER.name) / "certificate.pem"


def make_certificate():
    pathlib.Path(FOLDER.name).chmod(0o755)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", CERTIFICATE, "-out", f"{CERTIFICATE}.crt"], check=True, capture_output=True)
    with open(CERTIFICATE, "a") as file:
        file.write(pathlib.Path(f"{CERTIFICATE}.crt").read_text())
    CERTIFICATE.chmod(0o644)


def environment(**more):
    return {**os.environ, "SSL_CERT_FILE": str(CERTIFICATE), "PATCHMATE_PACING": "0.1", **more}


@contextlib.contextmanager
def worker_of(fake, *options, **more):
    with Worker(fake, "--concurrency", "1", *options, env=environment(**more)) as worker:
        yield worker


def heard(fake, word):
    return [entry for entry in fake.heard if word in entry[1]]


def a_registration_that_is_redirected_to_another_site_is_not_sent_there():
    with FakeServer() as other, FakeServer() as fake:
        fake.redirects["workers"] = other.url
        with worker_of(fake, "--token", TOKEN) as worker:
            kit.wait_until(lambda: len(heard(fake, "workers")) >= 2 or other.heard, 20)
            tap.equal(other.heard, [], "what the other server got")
            tap.true(TOKEN.encode() in heard(fake, "workers")[0][2], "the worker's own server got the token")
            kit.wait_until(lambda: f"it redirects to {other.url}" in worker.log(), 10)


def a_registration_leaves_tls_for_no_server():
    with FakeServer() as plain, FakeServer(certificate=CERTIFICATE) as fake:
        fake.redirects["workers"] = plain.url
        with worker_of(fake, "--token", TOKEN) as worker:
            kit.wait_until(lambda: len(heard(fake, "workers")) >= 2, 20)
            tap.equal(plain.heard, [], "what came without TLS")
            tap.true("not encrypted" not in worker.log(), "no warning")


def a_download_follows_to_another_server():
    with FakeServer() as other, FakeServer("return 1;") as fake:
        other.blobs = fake.blobs
        fake.redirects["blobs"] = other.url
        fake.add_task()
        with worker_of(fake):
            kit.wait_until(lambda: fake.failures or heard(other, "blobs"), 30)
            tap.equal([entry[0] for entry in heard(other, "blobs")][:1], ["GET"])


def a_download_does_not_leave_tls():
    with FakeServer() as plain, FakeServer(certificate=CERTIFICATE) as fake:
        plain.blobs = fake.blobs
        fake.redirects["blobs"] = plain.url
        fake.add_task()
        with worker_of(fake) as worker:
            kit.wait_until(lambda: "it redirects a download from https to http" in worker.log(), 30)
            tap.equal(plain.heard, [], "what came without TLS")


def a_server_without_tls_is_warned_of_once():
    for url, lines in (("http://chess.invalid", 1), ("http://127.chess.invalid:80", 1), ("https://chess.invalid", 0),
                       ("http://127.0.0.1:9", 0), ("http://localhost:9", 0), ("http://[::1]:9", 0)):
        class Nowhere:
            pass
        Nowhere.url = url
        with worker_of(Nowhere) as worker:
            kit.wait_until(lambda w=worker: "waiting for" in w.log(), 20)
            tap.equal(worker.log().count("is not encrypted"), lines, url)


def token_file(text, mode):
    path = pathlib.Path(FOLDER.name) / "token"
    path.unlink(missing_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def the_token_comes_from_a_file_or_the_environment():
    for options, more, warned in ((["--token-file", token_file(TOKEN + "\n", 0o600)], {"PATCHMATE_TOKEN": "another"}, False),
                                  ([], {"PATCHMATE_TOKEN": TOKEN}, False)):
        with FakeServer() as fake, worker_of(fake, *map(str, options), **more) as worker:
            kit.wait_until(lambda f=fake: heard(f, "workers"), 20)
            tap.true(TOKEN.encode() in heard(fake, "workers")[0][2], "the token was sent")
            command = pathlib.Path(f"/proc/{worker.process.pid}/cmdline").read_bytes()
            tap.true(TOKEN.encode() not in command, "the token is not in the list of processes")
            tap.equal("chmod 600" in worker.log(), warned, worker.log())


def a_token_file_that_others_may_read_is_warned_of():
    with FakeServer() as fake, worker_of(fake, "--token-file", str(token_file(TOKEN, 0o644))) as worker:
        kit.wait_until(lambda: heard(fake, "workers"), 20)
        tap.true("other users of this machine can read or change" in worker.log(), worker.log())


def a_token_file_without_a_token_is_refused():
    for text, words in (("", "contains no token"), ("two words", "contains no token"), (None, "No such file")):
        path = token_file(text or "", 0o600)
        if text is None:
            path.unlink()
        run = subprocess.run([kit.BUILD / "worker", "--server", "http://127.0.0.1:9", "--token-file", path], capture_output=True,
                             text=True)
        tap.equal(run.returncode, 2, run.stderr)
        tap.true(words in run.stderr, run.stderr)


def no_program_finds_the_token_in_its_environment():
    for level in (2, 1, 0):
        if confinement.missing(level):
            continue
        with FakeServer() as fake:
            fake.add_task(command="echo it runs with; env; cat /proc/[0-9]*/environ | tr '\\0' '\\n' | grep PATCHMATE; false")
            with worker_of(fake, "--sandbox", str(level), "--no-sandbox", PATCHMATE_TOKEN=TOKEN):
                kit.wait_until(lambda f=fake: f.failures, 30)
            log = fake.failures[0]["log"]
            tap.true("it runs with" in log and "PATH=" in log, log)
            tap.true(TOKEN not in log and (level == 0 or "PATCHMATE" not in log), log)


def no_word_of_the_server_forges_a_line_of_the_log():
    with FakeServer() as fake:
        fake.user = "u\u009b31m\r\n2026-01-01 00:00:00.000 info  forged\u001b[2J\u202e\u200b"
        with worker_of(fake) as worker:
            kit.wait_until(lambda: "registered as worker 1" in worker.log(), 20)
            shown = r"registered as worker 1 of u\x9b31m\x0d\x0a2026-01-01 00:00:00.000 info  forged\x1b[2J\u202e\u200b"
            tap.true(any(line.endswith(shown) for line in worker.log().splitlines()), worker.log())


def bytes_of(text):
    """As API.md says: the way back."""
    return b"".join(bytes([ord(c) - 0x10ff00]) if 0x10ff00 <= ord(c) <= 0x10ffff else c.encode() for c in text)


def the_output_of_a_build_arrives_byte_for_byte():
    said = b"a\tb\x1b[31mred\x1b[0m \xff\x00 \xc2\x9b \xe2\x80\xae \xf4\x8f\xbf\xbf \xc3\xa4\r\nerror: \x1b[31mbold\r\n"
    with FakeServer() as fake:
        fake.add_task(command="printf '" + "".join(f"\\{byte:03o}" for byte in said) + "'; false")
        with worker_of(fake) as worker:
            kit.wait_until(lambda: fake.failures, 30)
            log, message = fake.failures[0]["log"], fake.failures[0]["message"]
            tap.true(bytes_of(log).endswith(said), ascii(log))
            tap.true(message.endswith(r": error: \x1b[31mbold\x0d"), ascii(message))
            tap.true("\x1b" not in worker.log() and "\u202e" not in worker.log(), ascii(worker.log()))


def main():
    make_certificate()
    tap.run(a_registration_that_is_redirected_to_another_site_is_not_sent_there, a_registration_leaves_tls_for_no_server,
            a_download_follows_to_another_server, a_download_does_not_leave_tls, a_server_without_tls_is_warned_of_once,
            the_token_comes_from_a_file_or_the_environment, a_token_file_that_others_may_read_is_warned_of,
            a_token_file_without_a_token_is_refused, no_program_finds_the_token_in_its_environment,
            no_word_of_the_server_forges_a_line_of_the_log, the_output_of_a_build_arrives_byte_for_byte)


if __name__ == "__main__":
    main()
