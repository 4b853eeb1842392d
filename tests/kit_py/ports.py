"""Ports for programs that must be told one. They lie below those that the system gives to others who ask for any port, so no
connection takes one between this look and its use."""

import contextlib
import random
import socket

LOWEST, ABOVE = 20000, 32768


def free_ports(count):
    ports = []
    for port in random.sample(range(LOWEST, ABOVE), 1000):
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            ports.append(port)
        if len(ports) == count:
            return ports
    raise RuntimeError("no port is free")
