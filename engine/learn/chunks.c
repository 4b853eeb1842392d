// The files of a datagen folder. chunks.h explains why they can be continued after an interruption
// at any moment.
#include "learn/chunks.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "rules/error.h"

enum { CHUNK_PATH_MAX = PATH_MAX + 32 };

static const char WHOLE[] = "anvil", PART[] = "part";

static char *chunk_path(const Chunks *chunks, uint64_t chunk, const char *ending,
                        char out[CHUNK_PATH_MAX]) {
    snprintf(out, CHUNK_PATH_MAX, "%s/games-%06llu.%s", chunks->folder, (unsigned long long)chunk,
             ending);
    return out;
}

static bool chunk_exists(const Chunks *chunks, uint64_t chunk, const char *ending) {
    char path[CHUNK_PATH_MAX];
    struct stat status;
    return stat(chunk_path(chunks, chunk, ending, path), &status) == 0;
}

static uint64_t chunk_count(const Chunks *chunks) {
    return (chunks->games + CHUNK_GAMES - 1) / CHUNK_GAMES;
}

// The number of games that the run wants in a chunk. The last chunk may be short.
static uint64_t chunk_size(const Chunks *chunks, uint64_t chunk) {
    uint64_t rest = chunks->games - chunk * CHUNK_GAMES;
    return rest < CHUNK_GAMES ? rest : CHUNK_GAMES;
}

static bool disk_refuses(const char *path, Refusal *err) {
    const char *name = strrchr(path, '/');
    return refused(err, "%s: %s", name && name[1] ? name + 1 : path, strerror(errno));
}

// ---- the current chunk -------------------------------------------------------------------------

static size_t header_text(const Chunks *chunks, uint64_t chunk, char out[GAMEFILE_HEADER_MAX]) {
    GameFileHeader header = chunks->header;
    header.first = chunk * CHUNK_GAMES;
    return gamefile_write_header(&header, out);
}

// Counts the complete games in a file that begins with our header. `*size` is set to the end of the
// last one.
static uint16_t games_count(Chunks *chunks, const char *path, uint64_t *size) {
    GameReader *reader = &chunks->reader;
    Refusal err;
    *size = 0;
    if (!game_reader_open(reader, path, &err))
        return 0;
    while (reader->games < CHUNK_GAMES &&
           game_reader_next(reader, &chunks->game, &err) == GAME_READ)
        ;
    *size = reader->offset;
    game_reader_close(reader);
    return (uint16_t)reader->games;
}

// Opens the current chunk and truncates it after its last complete game.
static bool part_open(Chunks *chunks, uint64_t chunk, Refusal *err) {
    char path[CHUNK_PATH_MAX], header[GAMEFILE_HEADER_MAX];
    bool is_begun = chunks->have[chunk] > 0;
    uint64_t size = 0;
    chunk_path(chunks, chunk, PART, path);
    if (is_begun && games_count(chunks, path, &size) < chunks->have[chunk])
        return refused(err, "%s has fewer games than at the start", strrchr(path, '/') + 1);
    chunks->part = fopen(path, is_begun ? "r+b" : "wb");
    if (!chunks->part)
        return disk_refuses(path, err);
    if (is_begun)
        return (ftruncate(fileno(chunks->part), (off_t)size) == 0 &&
                fseeko(chunks->part, (off_t)size, SEEK_SET) == 0) ||
               disk_refuses(path, err);
    size_t length = header_text(chunks, chunk, header);
    return fwrite(header, 1, length, chunks->part) == length || disk_refuses(path, err);
}

// Syncs the file before the rename, so that a file with the final name is complete even after a
// power failure.
static bool part_finish(Chunks *chunks, uint64_t chunk, Refusal *err) {
    char part[CHUNK_PATH_MAX], whole[CHUNK_PATH_MAX];
    chunk_path(chunks, chunk, PART, part);
    chunk_path(chunks, chunk, WHOLE, whole);
    bool is_saved = fsync(fileno(chunks->part)) == 0;
    is_saved &= fclose(chunks->part) == 0;
    chunks->part = NULL;
    if (!is_saved || rename(part, whole) != 0 || fsync(chunks->lock) != 0)
        return disk_refuses(part, err);
    return true;
}

// ---- the games in the folder -------------------------------------------------------------------

// Names the first line in which two headers differ.
static bool refuse_header(const char *name, const char *theirs, const char *ours, Refusal *err) {
    size_t same = 0;
    while (theirs[same] && theirs[same] == ours[same])
        same++;
    while (same > 0 && ours[same - 1] != '\n')
        same--;
    return refused(err, "%s belongs to another run: it has '%.*s', this run has '%.*s'", name,
                   (int)strcspn(theirs + same, "\n"), theirs + same,
                   (int)strcspn(ours + same, "\n"), ours + same);
}

typedef enum { HEADER_OURS, HEADER_CUT, HEADER_FOREIGN } HeaderState;

// HEADER_CUT: the run ended before the complete header was on disk. Such a file is treated as
// empty.
static HeaderState header_check(const Chunks *chunks, uint64_t chunk, const char *path,
                                Refusal *err) {
    char ours[GAMEFILE_HEADER_MAX], theirs[GAMEFILE_HEADER_MAX];
    size_t size = header_text(chunks, chunk, ours);
    FILE *in = fopen(path, "rb");
    if (!in) {
        disk_refuses(path, err);
        return HEADER_FOREIGN;
    }
    size_t got = fread(theirs, 1, size, in);
    fclose(in);
    theirs[got] = '\0';
    if (memcmp(theirs, ours, got) == 0)
        return got == size ? HEADER_OURS : HEADER_CUT;
    refuse_header(strrchr(path, '/') + 1, theirs, ours, err);
    return HEADER_FOREIGN;
}

// Renames the file if its name does not match its number of games. A file with the final name may
// lack games because an earlier run wanted fewer, or because the file was damaged. A .part file may
// be complete if its run was stopped just before the rename.
static bool chunk_settle(Chunks *chunks, uint64_t chunk, bool is_whole, Refusal *err) {
    char whole[CHUNK_PATH_MAX], part[CHUNK_PATH_MAX];
    bool lacks = chunks->have[chunk] < chunk_size(chunks, chunk);
    if (is_whole != lacks)
        return true;
    if (!is_whole)
        return part_open(chunks, chunk, err) && part_finish(chunks, chunk, err);
    chunk_path(chunks, chunk, WHOLE, whole);
    chunk_path(chunks, chunk, PART, part);
    return rename(whole, part) == 0 || disk_refuses(whole, err);
}

// Finds out how many games the chunk has. The checksums of its games are verified only if it is
// `in_doubt`.
static bool chunk_survey(Chunks *chunks, uint64_t chunk, bool in_doubt, Refusal *err) {
    char path[CHUNK_PATH_MAX];
    bool is_whole = chunk_exists(chunks, chunk, WHOLE);
    if (!is_whole && !chunk_exists(chunks, chunk, PART))
        return true;
    chunk_path(chunks, chunk, is_whole ? WHOLE : PART, path);
    HeaderState state = header_check(chunks, chunk, path, err);
    if (state == HEADER_FOREIGN)
        return false;
    if (is_whole && !in_doubt && state == HEADER_OURS)
        chunks->have[chunk] = CHUNK_GAMES;
    else if (state == HEADER_OURS)
        chunks->have[chunk] = games_count(chunks, path, &(uint64_t){0});
    return chunk_settle(chunks, chunk, is_whole, err);
}

// Only the last file with the final name can be short: an earlier run ended there, or the machine
// failed.
static bool survey(Chunks *chunks, Refusal *err) {
    uint64_t count = chunk_count(chunks), last = 0;
    for (uint64_t chunk = 0; chunk < count; chunk++)
        if (chunk_exists(chunks, chunk, WHOLE))
            last = chunk;
    for (uint64_t chunk = 0; chunk < count; chunk++)
        if (!chunk_survey(chunks, chunk, chunk == last, err))
            return false;
    return true;
}

static bool folder_lock(Chunks *chunks, Refusal *err) {
    if (mkdir(chunks->folder, 0777) != 0 && errno != EEXIST)
        return disk_refuses(chunks->folder, err);
    chunks->lock = open(chunks->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (chunks->lock < 0)
        return disk_refuses(chunks->folder, err);
    if (flock(chunks->lock, LOCK_EX | LOCK_NB) == 0)
        return true;
    return refused(err, "another run is using the folder");
}

bool chunks_open(Chunks *chunks, const char *folder, const GameFileHeader *header, uint64_t games,
                 Refusal *err) {
    *chunks = (Chunks){.lock = -1, .header = *header, .games = games};
    if ((size_t)snprintf(chunks->folder, sizeof chunks->folder, "%s", folder) >=
        sizeof chunks->folder)
        return refused(err, "the folder's name is too long");
    chunks->have = calloc(chunk_count(chunks), sizeof *chunks->have);
    bool is_open = chunks->have ? folder_lock(chunks, err) && survey(chunks, err)
                                : refused(err, "out of memory for so many games");
    if (!is_open)
        chunks_close(chunks);
    return is_open;
}

void chunks_close(Chunks *chunks) {
    if (chunks->part)
        fclose(chunks->part);
    if (chunks->lock >= 0)
        close(chunks->lock);
    free(chunks->have);
    *chunks = (Chunks){.lock = -1};
}

uint64_t chunks_missing(const Chunks *chunks, uint64_t number) {
    while (number < chunks->games) {
        uint64_t first = number / CHUNK_GAMES * CHUNK_GAMES;
        uint64_t there = first + chunks->have[number / CHUNK_GAMES];
        if (number >= there)
            return number;
        number = there;
    }
    return chunks->games;
}

uint64_t chunks_present(const Chunks *chunks) {
    uint64_t sum = 0;
    for (uint64_t chunk = 0; chunk < chunk_count(chunks); chunk++) {
        uint64_t size = chunk_size(chunks, chunk);
        sum += chunks->have[chunk] < size ? chunks->have[chunk] : size;
    }
    return sum;
}

bool chunks_append(Chunks *chunks, uint64_t number, const uint8_t *record, size_t size,
                   Refusal *err) {
    uint64_t chunk = number / CHUNK_GAMES;
    char path[CHUNK_PATH_MAX];
    if (!chunks->part && !part_open(chunks, chunk, err))
        return false;
    if (fwrite(record, 1, size, chunks->part) != size || fflush(chunks->part) != 0)
        return disk_refuses(chunk_path(chunks, chunk, PART, path), err);
    bool is_last = number + 1 == chunk * CHUNK_GAMES + chunk_size(chunks, chunk);
    return !is_last || part_finish(chunks, chunk, err);
}
