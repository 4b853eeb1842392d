// Binary parts of a patch, "GIT binary patch". Lines of base 85 hold a zlib stream. It expands to
// the new content ("literal N") or to git's delta against the old content ("delta N"). Git writes a
// second part for the other direction, which is not needed. The index line names both contents by
// their hash, and both are checked.
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "server/patch/patch.h"

typedef struct Bytes {
    const unsigned char *p, *end;
} Bytes;

static bool refuse_damaged(const PatchFile *file, Error *err) {
    return patch_refuse(err, patch_file_name(file), ": its binary data is damaged");
}

// ---- base 85 ------------------------------------------------------------------------------------

// The value of a letter; -1 if it is not in git's alphabet.
static int digit_of(char letter) {
    static const char letters[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "!#$%&()*+-;<=>?@^_`{|}~";
    const char *at = letter ? strchr(letters, letter) : NULL;
    return at ? (int)(at - letters) : -1;
}

// Five letters encode four bytes, the most significant first.
static bool add_group(const char *letters, size_t wanted, Str *out) {
    unsigned long long word = 0;
    for (int i = 0; i < 5; i++) {
        int digit = digit_of(letters[i]);
        if (digit < 0)
            return false;
        word = word * 85 + (unsigned)digit;
    }
    for (size_t i = 0; i < 4 && i < wanted; i++)
        str_putc(out, (char)(word >> (24 - 8 * i)));
    return word <= 0xFFFFFFFF;
}

// The first letter says how many bytes the line encodes: A to Z are 1 to 26, a to z are 27 to 52.
static bool add_line(const char *text, size_t size, Str *out) {
    char c = *text;
    size_t bytes = c >= 'A' && c <= 'Z'   ? (size_t)(c - 'A') + 1
                   : c >= 'a' && c <= 'z' ? (size_t)(c - 'a') + 27
                                          : 0;
    if (!bytes || size != 1 + (bytes + 3) / 4 * 5)
        return false;
    for (size_t at = 0; at < bytes; at += 4)
        if (!add_group(text + 1 + at / 4 * 5, bytes - at, out))
            return false;
    return true;
}

// ---- the part of one direction ------------------------------------------------------------------

static bool read_header(PatchCursor *c, bool *is_delta, size_t *size) {
    const char *text;
    size_t n;
    long length;
    if (!patch_line(c, &text, &n) || !patch_line(c, &text, &n)) // after "GIT binary patch"
        return false;
    *is_delta = patch_starts(text, n, "delta ");
    if (!*is_delta && !patch_starts(text, n, "literal "))
        return false;
    size_t skip = *is_delta ? 6 : 8;
    char *number scope(free_ptr) = xstrndup(text + skip, n - skip);
    if (!parse_long(number, 0, PATCH_CONTENT_MAX, &length))
        return false;
    *size = (size_t)length;
    return true;
}

// Decodes the lines and inflates them to the size that the header says. New; NULL if the data is
// damaged.
static unsigned char *read_part(const PatchFile *file, bool *is_delta, size_t *size) {
    PatchCursor c = {file->literal, file->literal + file->literal_size, 0};
    const char *text;
    size_t n;
    Str packed scope(str_release);
    str_init(&packed, PATCH_BYTES_MAX);
    if (!read_header(&c, is_delta, size))
        return NULL;
    while (patch_line(&c, &text, &n) && n)
        if (!add_line(text, n, &packed))
            return NULL;
    uLongf length = *size;
    unsigned char *out = xmalloc(*size + 1);
    if (uncompress(out, &length, (const Bytef *)packed.data, packed.size) == Z_OK &&
        length == *size)
        return out;
    free(out);
    return NULL;
}

// ---- git's delta --------------------------------------------------------------------------------

// A number of seven bits in each byte, the least significant first.
static bool take_size(Bytes *in, size_t *size) {
    *size = 0;
    for (int shift = 0; shift < 35 && in->p < in->end; shift += 7) {
        unsigned char byte = *in->p++;
        *size |= (size_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

// The bits of `mask` say which bytes of the number follow; the others are 0.
static bool take_number(Bytes *in, unsigned mask, size_t *out) {
    *out = 0;
    for (int i = 0; mask >> i; i++) {
        if (!(mask >> i & 1))
            continue;
        if (in->p >= in->end)
            return false;
        *out |= (size_t)*in->p++ << (8 * i);
    }
    return true;
}

static bool copy_old(Bytes *in, unsigned char command, const char *old, size_t old_size, Str *out) {
    size_t offset, size;
    if (!take_number(in, command & 0x0F, &offset) || !take_number(in, command >> 4 & 0x07, &size))
        return false;
    size = size ? size : 0x10000;
    if (offset > old_size || size > old_size - offset)
        return false;
    str_add(out, old + offset, size);
    return true;
}

static bool apply_delta(Bytes in, const char *old, size_t old_size, Str *out) {
    size_t from, to;
    if (!take_size(&in, &from) || !take_size(&in, &to) || from != old_size ||
        to > PATCH_CONTENT_MAX)
        return false;
    while (in.p < in.end && out->size <= to) {
        unsigned char command = *in.p++;
        if (command & 0x80) {
            if (!copy_old(&in, command, old, old_size, out))
                return false;
        } else if (!command || command > in.end - in.p) {
            return false;
        } else {
            str_add(out, in.p, command);
            in.p += command;
        }
    }
    return out->size == to && in.p == in.end;
}

// ---- both contents by their names ---------------------------------------------------------------

static bool has_name(const char *content, size_t size, const char id[41]) {
    git_oid oid;
    char name[41];
    return git_odb_hash(&oid, content, size, GIT_OBJECT_BLOB) == 0 &&
           git_oid_tostr(name, sizeof name, &oid) && strcmp(name, id) == 0;
}

static bool check_old(const PatchFile *file, const char *old, size_t size, Error *err) {
    if (strlen(file->old_id) < 40 || strlen(file->new_id) < 40)
        return patch_refuse(err, patch_file_name(file),
                            ": its index line does not name the whole hashes; use `git diff "
                            "--binary`");
    return !file->old_path || has_name(old, size, file->old_id) ||
           patch_refuse(err, file->old_path,
                        ": the base differs from the file that the patch was made against (%.10s)",
                        file->old_id);
}

bool patch_fit_binary(const PatchFile *file, const char *old, size_t old_size, Str *out,
                      Error *err) {
    bool is_delta;
    size_t size;
    if (!check_old(file, old, old_size, err))
        return false;
    if (!file->new_path)
        return true;
    unsigned char *part scope(free_ptr) = read_part(file, &is_delta, &size);
    if (!part)
        return refuse_damaged(file, err);
    if (!is_delta)
        str_add(out, part, size);
    else if (!apply_delta((Bytes){part, part + size}, old, old_size, out))
        return refuse_damaged(file, err);
    return has_name(out->size ? out->data : "", out->size, file->new_id) ||
           refuse_damaged(file, err);
}
