// The signature of a batch (Ed25519), as the worker makes it and the server and `server verify`
// check it: of which installation, test and task the batch is, and what was played and counted.
// Keys and signatures are lower-case hex.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { SIGNING_KEY_HEX = 64, SIGNING_KEY_MAX = 65, SIGNATURE_HEX = 128, SIGNATURE_MAX = 129 };
// The name of an installation: INSTALLATION_HEX hex digits.
enum { INSTALLATION_HEX = 32, INSTALLATION_MAX = 33 };

// All texts are borrowed.
typedef struct SignedBatch {
    const char *installation;
    int64_t test, task, seq;
    const char *games_sha256; // NULL: none
    const char *tc;           // the clock as played
    int64_t thought;
    const json_t *result;
} SignedBatch;

// The text that is signed, new: a line for each fact, see API.md. NULL: a text has a line break,
// so that other facts could have the same text.
char *signed_text(const SignedBatch *batch);
// A JSON value in the one form in which it is signed and stored. New.
char *signed_json(const json_t *value);

void signing_key_make(char secret[SIGNING_KEY_MAX]);
// False: `secret` is no key.
bool signing_key_public(const char *secret, char public_key[SIGNING_KEY_MAX]);
bool signature_make(const char *secret, const char *text, char signature[SIGNATURE_MAX]);
// False also if the key or the signature has another form.
bool signature_fits(const char *public_key, const char *text, const char *signature);
// Whether it has exactly `digits` lower-case hex digits.
bool hex_is(const char *text, int digits);
