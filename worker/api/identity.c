// See identity.h.
#include "worker/api/identity.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "server/common/file.h"
#include "server/common/hash.h"
#include "server/common/json_member.h"
#include "server/common/log.h"
#include "server/common/str.h"

enum { IDENTITY_MAX = 4096, MACHINE_KEY_MIN = 16, MACHINE_KEY_MAX = 128 };

// The keys of the file, "" for those that it does not have.
typedef struct Keys {
    char machine[MACHINE_KEY_MAX + 1], secret[SIGNING_KEY_MAX];
} Keys;

static Keys load_keys(const char *path) {
    Error ignored;
    Keys keys = {0};
    char *text scope(free_ptr) = file_read(path, IDENTITY_MAX, NULL, &ignored);
    json_auto_t *root = text ? json_loads(text, 0, NULL) : NULL;
    const char *key = member_text(root, "machine_key"), *secret = member_text(root, "signing_key");
    size_t size = strlen(key);
    if (size >= MACHINE_KEY_MIN && size <= MACHINE_KEY_MAX && strcspn(key, " \t\r\n") == size)
        memcpy(keys.machine, key, size + 1);
    if (hex_is(secret, SIGNING_KEY_HEX))
        memcpy(keys.secret, secret, SIGNING_KEY_MAX);
    return keys;
}

// Both keys are written at once, so a worker that is killed has both or none.
static bool store_keys(const Keys *keys, const char *server, const char *path, Error *err) {
    json_auto_t *root = json_pack("{s:s, s:s, s:s}", "server", server, "machine_key", keys->machine,
                                  "signing_key", keys->secret);
    char *text scope(free_ptr) = json_dumps(root, JSON_INDENT(2));
    return file_write_secret(path, text, strlen(text), err);
}

// Without its machine key a machine is a new one. Without its signing key it stays what it is: the
// server keeps the old public key for the batches that were signed with it.
static bool make_keys(Identity *identity, Keys *keys, const char *path, Error *err) {
    if (!identity->known && access(path, F_OK) == 0)
        log_warn("%s cannot be read or has no machine key: this worker becomes a new machine on "
                 "that server, with new keys. To stay the old one, stop it and put the old file "
                 "back",
                 path);
    else if (identity->known)
        log_warn("%s has no signing key that can be read: a new one is made. What was signed with "
                 "the old one stays valid",
                 path);
    if (!identity->known)
        token_random(keys->machine);
    signing_key_make(keys->secret);
    return store_keys(keys, identity->server, path, err);
}

static bool open_keys(Identity *identity, const char *path, Error *err) {
    Keys keys = load_keys(path);
    identity->known = *keys.machine;
    if ((!identity->known || !*keys.secret) && !make_keys(identity, &keys, path, err))
        return false;
    memcpy(identity->secret, keys.secret, sizeof keys.secret);
    json_object_set_new(identity->registration, "machine_key", json_string(keys.machine));
    if (!signing_key_public(keys.secret, identity->public_key))
        return error_set(err, 0, "signing_key", "no public key can be made of the key in %s", path);
    json_object_set_new(identity->registration, "public_key", json_string(identity->public_key));
    return true;
}

// A folder name that still reads like the URL: "https___chess.example".
static char *server_folder(const char *state, const char *server) {
    char *name scope(free_ptr) = xstrdup(server);
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '.' && *c != '-')
            *c = '_';
    return xasprintf("%s/servers/%.200s", state, name);
}

bool identity_open(Identity *identity, const char *state, const char *server, json_t *registration,
                   Error *err) {
    *identity = (Identity){.server = server, .registration = registration};
    outage_init(&identity->outage, server);
    pthread_mutex_init(&identity->lock, NULL);
    pthread_mutex_init(&identity->register_lock, NULL);
    identity->folder = server_folder(state, server);
    if (!folder_make(identity->folder, err))
        return false;
    chmod(identity->folder, 0700); // the keys are secrets
    char *path scope(free_ptr) = xasprintf("%s/identity.json", identity->folder);
    return open_keys(identity, path, err);
}

void identity_close(Identity *identity) {
    json_decref(identity->registration);
    free(identity->folder);
    outage_release(&identity->outage);
    pthread_mutex_destroy(&identity->lock);
    pthread_mutex_destroy(&identity->register_lock);
}

void identity_token(Identity *identity, char out[SESSION_TOKEN_MAX]) {
    pthread_mutex_lock(&identity->lock);
    memcpy(out, identity->token, SESSION_TOKEN_MAX);
    pthread_mutex_unlock(&identity->lock);
}

bool identity_set(Identity *identity, const char *token, const char *installation, Error *err) {
    size_t size = strlen(token);
    if (size == 0 || size >= SESSION_TOKEN_MAX)
        return error_set(err, 0, "bad_reply", "the server gave a token of %zu bytes", size);
    if (!hex_is(installation, INSTALLATION_HEX))
        return error_set(err, 0, "bad_reply", "the server did not name itself by %d hex digits",
                         INSTALLATION_HEX);
    pthread_mutex_lock(&identity->lock);
    memcpy(identity->token, token, size + 1);
    memcpy(identity->installation, installation, INSTALLATION_MAX);
    pthread_mutex_unlock(&identity->lock);
    return true;
}

void identity_sign(Identity *identity, int64_t test, int64_t task, json_t *batch) {
    char installation[INSTALLATION_MAX], signature[SIGNATURE_MAX];
    pthread_mutex_lock(&identity->lock);
    memcpy(installation, identity->installation, sizeof installation);
    pthread_mutex_unlock(&identity->lock);
    SignedBatch what = {.installation = installation,
                        .test = test,
                        .task = task,
                        .seq = member_int(batch, "seq"),
                        .games_sha256 = json_string_value(json_object_get(batch, "games_sha256")),
                        .tc = member_text(batch, "tc"),
                        .thought = member_int(batch, "thought"),
                        .result = json_object_get(batch, "result")};
    char *text scope(free_ptr) = signed_text(&what);
    if (!text || !signature_make(identity->secret, text, signature))
        fatal("a batch of task %" PRId64 " cannot be signed", task);
    json_object_set_new(batch, "key", json_string(identity->public_key));
    json_object_set_new(batch, "signature", json_string(signature));
}
