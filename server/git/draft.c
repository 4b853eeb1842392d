// See draft.h.
#include "server/git/draft.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "server/common/file.h"
#include "server/common/str.h"
#include "server/git/memory_store.h"
#include "server/git/repo.h"

// With this many files or more, one sync of the whole file system is quicker than one of each file.
enum { FILES_FEW = 32, BLOCK_BYTES = 4096 };

typedef struct DraftFile {
    char *from, *to;
} DraftFile;

struct Draft {
    char *data, *folder;
    MemoryStore *store;
    char *objects; // folder of the repository's objects
    DraftFile *files;
    size_t count;
    int64_t bytes; // of the files, each in whole blocks
};

Draft *draft_new(const char *data, Error *err) {
    char *parent scope(free_ptr) = xasprintf("%s/drafts", data);
    char *folder scope(free_ptr) = xasprintf("%s/XXXXXX", parent);
    if (!folder_make(parent, err))
        return NULL;
    if (!mkdtemp(folder))
        return error_errno(err, "cannot make a folder in %s", parent), NULL;
    Draft *draft = xcalloc(1, sizeof *draft);
    draft->data = xstrdup(data);
    draft->folder = xstrdup(folder);
    return draft;
}

void draft_free(Draft *draft) {
    if (!draft)
        return;
    Error ignored;
    if (!folder_remove(draft->folder, &ignored))
        (void)ignored; // the next start removes it
    for (size_t i = 0; i < draft->count; i++) {
        free(draft->files[i].from);
        free(draft->files[i].to);
    }
    free(draft->files);
    free(draft->objects);
    free(draft->folder);
    free(draft->data);
    free(draft);
}

bool draft_sweep(const char *data, Error *err) {
    char *folder scope(free_ptr) = xasprintf("%s/drafts", data);
    return folder_remove(folder, err);
}

// ---- files --------------------------------------------------------------------------------------

// `to` is stolen.
static bool add_file(Draft *draft, const void *bytes, size_t size, char *to, Error *err) {
    char *from = xasprintf("%s/%zu", draft->folder, draft->count);
    draft->files = xrealloc(draft->files, (draft->count + 1) * sizeof *draft->files);
    draft->files[draft->count++] = (DraftFile){from, to};
    int fd scope(close_fd) = open(from, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    if (fd < 0)
        return error_errno(err, "cannot create %s", from);
    draft->bytes += (int64_t)((size + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES);
    const char *p = bytes;
    for (size_t left = size; left;) {
        ssize_t n = write(fd, p, left);
        if (n < 0)
            return error_errno(err, "cannot write %s", from);
        p += n, left -= (size_t)n;
    }
    return true;
}

int64_t draft_bytes(const Draft *draft) {
    return draft->bytes;
}

static bool sync_all(const char *folder, Error *err) {
    int fd scope(close_fd) = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return (fd >= 0 && syncfs(fd) == 0) || error_errno(err, "cannot sync %s", folder);
}

static bool sync_file(const char *path, Error *err) {
    int fd scope(close_fd) = open(path, O_RDONLY | O_CLOEXEC);
    return (fd >= 0 && fsync(fd) == 0) || error_errno(err, "cannot sync %s", path);
}

// ---- git ----------------------------------------------------------------------------------------

bool draft_take_git(Draft *draft, git_repository *repo, Error *err) {
    git_odb *odb = NULL;
    if (git_repository_odb(&odb, repo) == 0)
        draft->store = memory_store_add(odb, DRAFT_BYTES_MAX);
    git_odb_free(odb);
    draft->objects = xasprintf("%sobjects", git_repository_path(repo));
    return draft->store || repo_error(err, 500, "git", "the repository cannot be opened");
}

bool draft_is_full(const Draft *draft) {
    return draft->store && memory_store_is_full(draft->store);
}

// A loose object in git's form: a header and the bytes, deflated.
static bool add_object(Draft *draft, const MemoryObject *object, Error *err) {
    char header[40], hex[GIT_OID_HEXSZ + 1];
    int n = snprintf(header, sizeof header, "%s %zu", git_object_type2string(object->type),
                     object->size);
    Str plain scope(str_release);
    str_init(&plain, object->size + sizeof header + 1);
    str_add(&plain, header, (size_t)n + 1);
    str_add(&plain, object->bytes, object->size);
    uLongf size = compressBound(plain.size);
    Bytef *packed = xmalloc(size);
    bool ok = compress2(packed, &size, (const Bytef *)plain.data, plain.size, Z_BEST_SPEED) == Z_OK;
    git_oid_tostr(hex, sizeof hex, &object->id);
    ok = ok ? add_file(draft, packed, size, xasprintf("%s/%.2s/%s", draft->objects, hex, hex + 2),
                       err)
            : error_set(err, 500, "internal", "object %s cannot be compressed", hex);
    free(packed);
    return ok;
}

bool draft_seal(Draft *draft, Error *err) {
    const MemoryObject *object;
    for (size_t i = 0; draft->store && (object = memory_store_object(draft->store, i)); i++)
        if (!add_object(draft, object, err))
            return false;
    if (draft->count > FILES_FEW)
        return sync_all(draft->folder, err);
    for (size_t i = 0; i < draft->count; i++)
        if (!sync_file(draft->files[i].from, err))
            return false;
    return true;
}

// ---- to its place -------------------------------------------------------------------------------

static char *folder_of(const char *path) {
    return xstrndup(path, (size_t)(strrchr(path, '/') - path));
}

static bool move(const DraftFile *file, Error *err) {
    char *folder scope(free_ptr) = folder_of(file->to);
    char *above scope(free_ptr) = folder_of(folder);
    struct stat st;
    bool made = stat(folder, &st) < 0;
    if (made && !folder_make(folder, err))
        return false;
    if (rename(file->from, file->to) < 0)
        return error_errno(err, "cannot move a file to %s", file->to);
    return !made || folder_sync(above, err);
}

bool draft_publish(Draft *draft, Error *err) {
    for (size_t i = 0; i < draft->count; i++)
        if (!move(&draft->files[i], err))
            return false;
    if (draft->count > FILES_FEW)
        return sync_all(draft->data, err);
    for (size_t i = 0; i < draft->count; i++) {
        char *folder scope(free_ptr) = folder_of(draft->files[i].to);
        if (!folder_sync(folder, err))
            return false;
    }
    return true;
}
