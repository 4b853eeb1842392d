"""Signatures of batches (API.md), as workers make them: Ed25519 by the libcrypto that the server uses, too. All machines of the
kit have one key; a test that is about keys makes others."""

import contextlib
import ctypes
import ctypes.util
import json
import re
import sqlite3

SECRET = bytes(range(32))
_ED25519 = 1087
_crypto = ctypes.CDLL(ctypes.util.find_library("crypto") or "libcrypto.so.3")
for _name in ("EVP_PKEY_new_raw_private_key", "EVP_MD_CTX_new"):
    getattr(_crypto, _name).restype = ctypes.c_void_p
_BATCHES = re.compile(r"(?:/api/v1)?/tasks/(\d+)/batches")


@contextlib.contextmanager
def _key(secret):
    key = ctypes.c_void_p(_crypto.EVP_PKEY_new_raw_private_key(_ED25519, None, secret, ctypes.c_size_t(len(secret))))
    try:
        yield key
    finally:
        _crypto.EVP_PKEY_free(key)


def public_key(secret=SECRET):
    out, size = ctypes.create_string_buffer(32), ctypes.c_size_t(32)
    with _key(secret) as key:
        if _crypto.EVP_PKEY_get_raw_public_key(key, out, ctypes.byref(size)) != 1:
            raise RuntimeError("no public key")
    return out.raw.hex()


def signature(text, secret=SECRET):
    out, size = ctypes.create_string_buffer(64), ctypes.c_size_t(64)
    with _key(secret) as key:
        context = ctypes.c_void_p(_crypto.EVP_MD_CTX_new())
        good = (_crypto.EVP_DigestSignInit(context, None, None, None, key) == 1
                and _crypto.EVP_DigestSign(context, out, ctypes.byref(size), text.encode(), ctypes.c_size_t(len(text.encode()))) == 1)
        _crypto.EVP_MD_CTX_free(context)
    if not good:
        raise RuntimeError("no signature")
    return out.raw.hex()


def text_of(installation, test, task, body):
    """What is signed: a line for each fact."""
    result = json.dumps(body.get("result"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return (f"patchmate batch 1\ninstallation {installation}\ntest {test}\ntask {task}\nseq {body.get('seq')}\n"
            f"games {body.get('games_sha256') or '-'}\ntc {body.get('tc')}\nthought {body.get('thought')}\nresult {result}\n")


def signed(server, path, body, secret=SECRET):
    """The body of a batch with its signature; any other body as it is. Which test a task has, and what the server is called, is
    read from its database."""
    match = _BATCHES.fullmatch(path)
    if not match or not isinstance(body, dict) or "signature" in body:
        return body
    task = int(match[1])
    with contextlib.closing(sqlite3.connect(f"file:{server.data}/patchmate.db?mode=ro", uri=True, timeout=600)) as db:
        installation, test = db.execute("SELECT i.name, coalesce(k.test_id, 0) FROM installation i LEFT JOIN tasks k ON k.id = ?",
                                        (task,)).fetchone()
    return {**body, "key": public_key(secret), "signature": signature(text_of(installation, test, task, body), secret)}
