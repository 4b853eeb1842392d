// Loads nets, from a file of either form or from the program itself.
#include "nnue/bytes.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_BYTES_MAX = 32 << 20 }; // more than either form can have

bool network_parse(Network *net, const void *bytes, size_t size, Refusal *err) {
    if (!compact_is(bytes, size))
        return network_read(net, bytes, size, err);
    CompactNet compact;
    *net = (Network){0};
    if (!compact_read(&compact, bytes, size, err))
        return false;
    compact_expand(&compact, net);
    compact_release(&compact);
    return true;
}

// New, or NULL.
static uint8_t *file_bytes(FILE *file, size_t *size, Refusal *err) {
    uint8_t *bytes = malloc(FILE_BYTES_MAX + 1);
    if (!bytes) {
        refused(err, "out of memory for the file");
        return NULL;
    }
    *size = fread(bytes, 1, FILE_BYTES_MAX + 1, file);
    if (ferror(file))
        refused(err, "cannot read it: %s", strerror(errno));
    else if (*size > FILE_BYTES_MAX)
        refused(err, "the file has more than %d bytes, so it is not a net", FILE_BYTES_MAX);
    else
        return bytes;
    free(bytes);
    return NULL;
}

// New, or NULL.
static uint8_t *path_bytes(const char *path, size_t *size, Refusal *err) {
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) { // a pipe could block
        refused(err, "it is not a file");
        return NULL;
    }
    FILE *file = fopen(path, "rb");
    if (!file) {
        refused(err, "cannot open it: %s", strerror(errno));
        return NULL;
    }
    uint8_t *bytes = file_bytes(file, size, err);
    fclose(file);
    return bytes;
}

bool network_load(Network *net, const char *path, Refusal *err) {
    size_t size = 0;
    *net = (Network){0};
    uint8_t *bytes = path_bytes(path, &size, err);
    bool fine = bytes && network_parse(net, bytes, size, err);
    free(bytes);
    return fine;
}

bool compact_load(CompactNet *compact, const char *path, Refusal *err) {
    size_t size = 0;
    *compact = (CompactNet){0};
    uint8_t *bytes = path_bytes(path, &size, err);
    bool fine = bytes && compact_read(compact, bytes, size, err);
    free(bytes);
    return fine;
}

bool network_choose(const char *name, Network *own, const Network **chosen, Refusal *err) {
    Refusal reason;
    *own = (Network){0};
    *chosen = NULL;
    if (strcmp(name, "none") == 0)
        return true;
    if (name[0] == '\0' || strcmp(name, "<default>") == 0) {
        *chosen = network_default();
        return true;
    }
    if (!network_load(own, name, &reason))
        return refused(err, "%.90s: %s", name, reason.message);
    *chosen = own;
    return true;
}

// ---- the default net ---------------------------------------------------------------------------

// Defined in embedded.S. Absent from a program that is built without a net.
extern const uint8_t anvil_net_bytes[] __attribute__((weak));
extern const uint32_t anvil_net_size __attribute__((weak));
extern const char anvil_net_name[] __attribute__((weak));

static Network standard; // filled once

static void standard_init(void) {
    Refusal err;
    if (!network_parse(&standard, anvil_net_bytes, anvil_net_size, &err)) {
        fprintf(stderr, "anvil: the built-in net %s: %s\n", anvil_net_name, err.message);
        exit(EXIT_FAILURE);
    }
}

const Network *network_default(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    if (!anvil_net_bytes)
        return NULL;
    pthread_once(&once, standard_init);
    return &standard;
}

const char *network_default_sha256(void) {
    return anvil_net_bytes ? anvil_net_name : "";
}
