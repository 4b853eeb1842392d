// Binary patches whose data is well packed and may lie. The first byte says what is patched and
// how: a new file or one of the base, by its whole content or by git's delta, with a false length,
// with damage in the packed data; or the rest is the text behind "GIT binary patch" itself. What an
// honest whole content makes is that content; all else is refused in words.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <git2/sys/mempack.h>
#include <git2/sys/odb_backend.h>

#include "server/patch/patch.h"
#include "tests/kit/repo_kit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { CHANGED = 1, DELTA = 2, FALSE_LENGTH = 4, DAMAGED = 8, TEXT = 16 };
enum { PAYLOAD_MAX = 4096 };

static const char BASE[] = "a table of the base";

typedef struct Base {
    git_repository *repo;
    git_odb_backend *memory; // what a patch writes stays there and is forgotten
    git_oid tree, blob;
} Base;

static char *folder;

static void drop_folder(void) {
    kit_folder_drop(&folder);
}

static Base *base_open(void) {
    static Base base;
    Error err;
    char sha[REPO_SHA_MAX];
    git_odb *odb;
    git_commit *commit;
    git_oid id;
    if (base.repo)
        return &base;
    git_libgit2_init();
    folder = kit_folder();
    atexit(drop_folder);
    char *source scope(free_ptr) = xasprintf("%s/source", folder);
    kit_write(source, "table.bin", BASE);
    kit_write(source, "main.c", "int main(void) { return 0; }\n");
    base.repo = repo_create(folder, "anvil", "main", &err);
    if (!base.repo)
        abort();
    kit_commit(base.repo, source, NULL, sha);
    if (git_oid_fromstr(&id, sha) < 0 || git_commit_lookup(&commit, base.repo, &id) < 0)
        abort();
    base.tree = *git_commit_tree_id(commit);
    git_commit_free(commit);
    git_odb_hash(&base.blob, BASE, sizeof BASE - 1, GIT_OBJECT_BLOB);
    if (git_repository_odb(&odb, base.repo) < 0 || git_mempack_new(&base.memory) < 0 ||
        git_odb_add_backend(odb, base.memory, 999) < 0)
        abort();
    git_odb_free(odb);
    return &base;
}

// Four bytes as five letters of git's alphabet, most significant first.
static void add_base85(Str *out, const uint8_t *bytes, size_t size) {
    static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "!#$%&()*+-;<=>?@^_`{|}~";
    for (size_t at = 0; at < size; at += 4) {
        uint32_t word = 0;
        char group[5];
        for (size_t i = 0; i < 4; i++)
            word = word << 8 | (at + i < size ? bytes[at + i] : 0);
        for (int i = 4; i >= 0; i--, word /= 85)
            group[i] = letters[word % 85];
        str_add(out, group, sizeof group);
    }
}

// One direction of the change.
static void add_packed(Str *out, uint8_t how, const uint8_t *payload, size_t size) {
    uint8_t packed[PAYLOAD_MAX + 100];
    uLongf length = sizeof packed;
    if (compress(packed, &length, payload, size) != Z_OK)
        abort();
    if (how & DAMAGED)
        packed[(how >> 5) % length] ^= 0x55;
    str_printf(out, "%s %zu\n", how & DELTA ? "delta" : "literal",
               how & FALSE_LENGTH ? size * 1000 + 7 : size);
    for (size_t at = 0; at < length; at += 52) {
        size_t line = length - at < 52 ? length - at : 52;
        str_printf(out, "%c", (int)(line <= 26 ? 'A' + line - 1 : 'a' + line - 27));
        add_base85(out, packed + at, line);
        str_printf(out, "\n");
    }
    str_printf(out, "\n");
}

static void write_patch(Str *out, uint8_t how, const uint8_t *payload, size_t size,
                        const Base *base) {
    char old[41] = "0000000000000000000000000000000000000000", new[41];
    const char *name = how & CHANGED ? "table.bin" : "new.bin";
    git_oid id;
    git_odb_hash(&id, payload, size, GIT_OBJECT_BLOB);
    git_oid_tostr(new, sizeof new, &id);
    if (how & CHANGED)
        git_oid_tostr(old, sizeof old, &base->blob);
    str_printf(out, "diff --git a/%s b/%s\n%sindex %s..%s%s\nGIT binary patch\n", name, name,
               how & CHANGED ? "" : "new file mode 100644\n", old, new,
               how & CHANGED ? " 100644" : "");
    if (how & TEXT)
        str_add(out, (const char *)payload, size);
    else {
        add_packed(out, how, payload, size);
        add_packed(out, 0, (const uint8_t *)BASE, how & CHANGED ? sizeof BASE - 1 : 0);
    }
}

// The file in the new tree has these bytes.
static void check_content(const Base *base, const git_oid *tree_id, const char *name,
                          const uint8_t *payload, size_t size) {
    git_tree *tree;
    git_blob *blob;
    if (git_tree_lookup(&tree, base->repo, tree_id) < 0)
        abort();
    const git_tree_entry *entry = git_tree_entry_byname(tree, name);
    if (!entry || git_blob_lookup(&blob, base->repo, git_tree_entry_id(entry)) < 0)
        abort();
    if (git_blob_rawsize(blob) != (git_object_size_t)size ||
        memcmp(git_blob_rawcontent(blob), payload, size) != 0)
        abort();
    git_blob_free(blob);
    git_tree_free(tree);
}

static void try_patch(const Base *base, uint8_t how, const uint8_t *payload, size_t size,
                      const Str *text) {
    Error err = {0};
    git_oid tree;
    Patch patch scope(patch_release) = {0};
    bool honest = !(how & (DELTA | FALSE_LENGTH | DAMAGED | TEXT));
    bool same = how & CHANGED && size == sizeof BASE - 1 && memcmp(payload, BASE, size) == 0;
    bool good = patch_parse(text->data, text->size, &patch, &err) &&
                patch_apply(base->repo, &patch.mails[0], &base->tree, &tree, &err);
    if (!good && (err.status < 400 || err.status >= 500 || !err.message[0]))
        abort();
    if (honest && size && !same && !good)
        abort();
    if (good && honest)
        check_content(base, &tree, how & CHANGED ? "table.bin" : "new.bin", payload, size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Base *base = base_open();
    if (size < 1 || size - 1 > PAYLOAD_MAX)
        return 0;
    Str text scope(str_release);
    str_init(&text, PATCH_BYTES_MAX);
    write_patch(&text, data[0], data + 1, size - 1, base);
    try_patch(base, data[0], data + 1, size - 1, &text);
    git_mempack_reset(base->memory);
    return 0;
}
