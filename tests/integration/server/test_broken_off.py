#!/usr/bin/python3
# test: sanitized only
"""Requests whose client is gone in the middle: what they held is free again at once, although their last bytes and their end
arrived together. The server's own timeout is ten minutes here, so that it cannot be what frees them."""

import pathlib
import signal
import socket
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "kit_py"))
from server import PATIENCE, Server, wait_until  # noqa: E402
from tap import equal, run  # noqa: E402

server = None
GET = b"GET /api/v1/server HTTP/1.1\r\nHost: x\r\n\r\n"
LOGIN = b"POST /api/v1/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
BODY = b'{"name": "nobody"}'


def connect():
    return socket.create_connection(("127.0.0.1", server.port), timeout=10 * PATIENCE)


def the_server_has_read_all():
    for _ in range(2):  # the second is accepted when the server has read what had come before the first
        equal(server.client().get("/api/v1/server").status, 200)


def sent_and_ended(*requests):
    """Connections on which each of them arrives in one burst with the end of the client's side, when the server already waits
    for it."""
    connections = [connect() for _ in requests]
    the_server_has_read_all()
    server.process.send_signal(signal.SIGSTOP)
    try:
        for connection, request in zip(connections, requests):
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
    finally:
        server.process.send_signal(signal.SIGCONT)
    the_server_has_read_all()
    return connections


def upload(size, headers=""):
    token = server.client("dev").api("POST", "/tokens", {"name": "script", "scope": "submit"}).json["token"]
    return (f"POST /api/v1/nets HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/octet-stream\r\nContent-Length: {size}\r\n{headers}\r\n").encode()


def asked(head):
    """What a client is told that asks whether a body may come."""
    with connect() as connection:
        connection.sendall(head)
        return connection.recv(65536).decode()


def uploads_that_break_off_give_their_places_back():
    ask, begun = upload(20 << 20, "Expect: 100-continue\r\n"), upload(20 << 20) + b"the first bytes of a net"
    for connection in sent_and_ended(begun, begun):
        connection.close()
    wait_until(lambda: " 100 " in asked(ask), 10, 0.5)


def connections_that_break_off_anywhere_are_closed():
    length = LOGIN + b"Content-Length: %d\r\n\r\n" % len(BODY)
    chunked = LOGIN + b"Transfer-Encoding: chunked\r\n\r\n"
    cut = (b"", b"GET", GET[:-2], GET[:-1], GET, GET + b"GET /", LOGIN, length, length + BODY[:-1], chunked, chunked + b"2",
           chunked + b"2\r\n{", chunked + b"2\r\n{}\r\n0\r\n", b"POST /nothing HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nrefused",
           upload(1000) + b"x" * 999, upload(20 << 20) + b"x" * 70000)
    for connection in sent_and_ended(*cut):
        with connection:
            while connection.recv(65536):  # until the server has closed it
                pass


def a_chunk_whose_header_does_not_fit_is_cut_off():
    with connect() as connection:
        connection.sendall(LOGIN + b"Transfer-Encoding: chunked\r\n\r\n2;" + b"x" * 40000)
        try:
            while connection.recv(65536):
                pass
        except ConnectionError:
            pass


def main():
    global server
    with Server("--timeout", "600") as server:
        server.add_user("dev", "developer")
        run(uploads_that_break_off_give_their_places_back, connections_that_break_off_anywhere_are_closed,
            a_chunk_whose_header_does_not_fit_is_cut_off)


if __name__ == "__main__":
    main()
