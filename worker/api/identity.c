// See identity.h.
#include "worker/api/identity.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/common/file.h"
#include "server/common/hash.h"
#include "server/common/str.h"

enum { IDENTITY_MAX = 4096, MACHINE_KEY_MIN = 16, MACHINE_KEY_MAX = 128 };

// An identity that cannot be read is as good as none: a new one is made.
static bool load_key(Identity *identity, const char *path) {
    Error ignored;
    char *text scope(free_ptr) = file_read(path, IDENTITY_MAX, NULL, &ignored);
    json_auto_t *root = text ? json_loads(text, 0, NULL) : NULL;
    const char *key = json_string_value(json_object_get(root, "machine_key"));
    size_t size = key ? strlen(key) : 0;
    if (size < MACHINE_KEY_MIN || size > MACHINE_KEY_MAX || strcspn(key, " \t\r\n") != size)
        return false;
    json_object_set_new(identity->registration, "machine_key", json_string(key));
    return true;
}

static bool make_key(Identity *identity, const char *path, Error *err) {
    char key[TOKEN_MAX];
    token_random(key);
    json_object_set_new(identity->registration, "machine_key", json_string(key));
    json_auto_t *root = json_pack("{s:s, s:s}", "server", identity->server, "machine_key", key);
    char *text scope(free_ptr) = json_dumps(root, JSON_INDENT(2));
    return file_write_durable(path, text, strlen(text), err);
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
    chmod(identity->folder, 0700); // the key is a secret
    char *path scope(free_ptr) = xasprintf("%s/identity.json", identity->folder);
    identity->known = load_key(identity, path);
    return identity->known || make_key(identity, path, err);
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

bool identity_set_token(Identity *identity, const char *token, Error *err) {
    size_t size = strlen(token);
    if (size == 0 || size >= SESSION_TOKEN_MAX)
        return error_set(err, 0, "bad_reply", "the server gave a token of %zu bytes", size);
    pthread_mutex_lock(&identity->lock);
    memcpy(identity->token, token, size + 1);
    pthread_mutex_unlock(&identity->lock);
    return true;
}
