// Reads and writes game files. The reader checks all checksums, lengths, FENs and moves.
#include "learn/gamefile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/checksum.h"
#include "base/words.h"
#include "rules/error.h"

static const char FIRST_LINE[] = "anvil games 1";

enum { PREFIX_SIZE = 8, MOVE_SIZE = 4 }; // length and sum; move and score

static void put16(uint8_t *out, unsigned value) {
    out[0] = (uint8_t)value;
    out[1] = (uint8_t)(value >> 8);
}
static void put32(uint8_t *out, uint32_t value) {
    put16(out, value & 0xffff);
    put16(out + 2, value >> 16);
}
static unsigned get16(const uint8_t *in) {
    return in[0] | (unsigned)in[1] << 8;
}
static uint32_t get32(const uint8_t *in) {
    return get16(in) | (uint32_t)get16(in + 2) << 16;
}

// ---- writing -----------------------------------------------------------------------------------

size_t gamefile_write_header(const GameFileHeader *header, char out[GAMEFILE_HEADER_MAX]) {
    return (size_t)snprintf(out, GAMEFILE_HEADER_MAX,
                            "%s\nengine %s\nseed %" PRIu64 "\nfirst %" PRIu64
                            "\nlimit %s\nnet %s\nopenings %s\nends %s\n\n",
                            FIRST_LINE, header->engine, header->seed, header->first, header->limit,
                            header->net, header->openings, header->ends);
}

size_t gamefile_write_game(const GameFileRecord *game, uint8_t out[GAMEFILE_RECORD_MAX]) {
    uint8_t *payload = out + PREFIX_SIZE, *at = payload;
    position_to_fen(&game->start, (char *)at);
    at += strlen((char *)at) + 1;
    *at++ = (uint8_t)game->result;
    put16(at, (unsigned)game->plies);
    at += 2;
    for (int i = 0; i < game->plies; i++, at += MOVE_SIZE) {
        put16(at, game->moves[i].move);
        put16(at + 2, (uint16_t)game->moves[i].score);
    }
    size_t size = (size_t)(at - payload);
    put32(out, (uint32_t)size);
    put32(out + 4, checksum_crc32(0, payload, size));
    return PREFIX_SIZE + size;
}

// ---- the header --------------------------------------------------------------------------------

#define TEXT_FIELD(name)                                                                           \
    { #name, offsetof(GameFileHeader, name), sizeof(((GameFileHeader *)NULL)->name) }
#define NUMBER_FIELD(name)                                                                         \
    { #name, offsetof(GameFileHeader, name), 0 }

// All fields of the header. Every field but the last must be present. Lines with unknown keywords
// are skipped: a later version may have written them.
static const struct Field {
    const char *word;
    size_t offset, size; // size 0: a number
} FIELDS[] = {
    TEXT_FIELD(engine), TEXT_FIELD(limit),   TEXT_FIELD(net),  TEXT_FIELD(openings),
    NUMBER_FIELD(seed), NUMBER_FIELD(first), TEXT_FIELD(ends),
};
enum { FIELD_COUNT = sizeof FIELDS / sizeof *FIELDS, FIELDS_NEEDED = FIELD_COUNT - 1 };

static bool field_read(const struct Field *field, Word value, GameFileHeader *header) {
    char *out = (char *)header + field->offset;
    int64_t number;
    if (field->size)
        return word_copy(value, out, field->size);
    if (!word_to_int(value, 0, INT64_MAX, &number))
        return false;
    memcpy(out, &(uint64_t){(uint64_t)number}, sizeof(uint64_t));
    return true;
}

// Reads one line, which ends with a NUL, and sets the bit of its field in `seen`.
static bool header_line(const char *line, GameFileHeader *header, unsigned *seen, Refusal *err) {
    const char *value = line;
    Word word = word_next(&value);
    value += *value == ' ';
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (!word_is(word, FIELDS[i].word))
            continue;
        *seen |= 1u << i;
        if (!field_read(&FIELDS[i], (Word){value, strlen(value)}, header))
            return refused(err, "line '%s' of the header is too long or not a number",
                           FIELDS[i].word);
    }
    return true;
}

// `text` is the header without its empty line. The function modifies it.
static bool header_parse(char *text, GameFileHeader *header, Refusal *err) {
    unsigned seen = 0;
    *header = (GameFileHeader){0};
    for (char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        *end = '\0';
        if (line == text && strcmp(line, FIRST_LINE) != 0)
            return refused(err, "not a game file: its first line is not '%s'", FIRST_LINE);
        if (line != text && !header_line(line, header, &seen, err))
            return false;
    }
    for (int i = 0; i < FIELDS_NEEDED; i++)
        if (!(seen >> i & 1))
            return refused(err, "the header has no line '%s'", FIELDS[i].word);
    return true;
}

// Reads everything up to the empty line. Stops early if the file does not begin like a game file.
static bool header_fetch(GameReader *reader, char text[GAMEFILE_HEADER_MAX], Refusal *err) {
    size_t size = 0;
    for (int ch; size + 1 < GAMEFILE_HEADER_MAX && (ch = getc(reader->in)) != EOF; size++) {
        text[size] = (char)ch;
        if (size + 1 < sizeof FIRST_LINE && ch != FIRST_LINE[size])
            break;
        if (ch == '\n' && size > 0 && text[size - 1] == '\n') {
            text[size] = '\0';
            reader->offset = size + 1;
            return strlen(text) == size ||
                   refused(err, "the header has a NUL at byte %zu", strlen(text));
        }
    }
    if (ferror(reader->in))
        return refused(err, "cannot be read: %s", strerror(errno));
    if (size + 1 < sizeof FIRST_LINE)
        return refused(err, "not a game file: its first line is not '%s'", FIRST_LINE);
    return refused(err, "the header does not end within %d bytes", GAMEFILE_HEADER_MAX);
}

bool game_reader_open_stream(GameReader *reader, FILE *in, Refusal *err) {
    char text[GAMEFILE_HEADER_MAX] = "";
    reader->in = in;
    reader->games = reader->offset = 0;
    if (header_fetch(reader, text, err) && header_parse(text, &reader->header, err))
        return true;
    game_reader_close(reader);
    return false;
}

bool game_reader_open(GameReader *reader, const char *path, Refusal *err) {
    FILE *in = fopen(path, "rb");
    if (!in)
        return refused(err, "cannot be opened: %s", strerror(errno));
    return game_reader_open_stream(reader, in, err);
}

void game_reader_close(GameReader *reader) {
    if (reader->in)
        fclose(reader->in);
    reader->in = NULL;
}

// ---- records -----------------------------------------------------------------------------------

static bool moves_read(const uint8_t *at, GameFileRecord *game, Refusal *err) {
    Position pos = game->start;
    for (int i = 0; i < game->plies; i++, at += MOVE_SIZE) {
        Move move = (Move)get16(at);
        int16_t score = (int16_t)get16(at + 2);
        Undo undo;
        if (!move_is_legal(&pos, move))
            return refused(err, "move %d (0x%04x) is not legal", i, move);
        if (score < -SCORE_MATE || score > SCORE_MATE)
            return refused(err, "score %d of move %d is out of range", score, i);
        game->moves[i] = (ScoredMove){move, score};
        position_make(&pos, move, &undo);
    }
    return true;
}

static bool payload_read(const uint8_t *payload, size_t size, GameFileRecord *game, Refusal *err) {
    size_t fen_room = size < FEN_MAX ? size : FEN_MAX;
    const uint8_t *end = memchr(payload, '\0', fen_room);
    if (!end)
        return refused(err, "the FEN has no end");
    if (!position_from_fen(&game->start, (const char *)payload, false, err))
        return false;
    const uint8_t *at = end + 1;
    size_t rest = size - (size_t)(at - payload);
    if (rest < 3)
        return refused(err, "the record ends before its moves");
    game->result = at[0];
    game->plies = (int)get16(at + 1);
    if (game->result > 2)
        return refused(err, "%d is not a result", game->result);
    if (game->plies > GAMEFILE_PLIES_MAX)
        return refused(err, "the game has too many plies: %d", game->plies);
    if (rest != 3 + MOVE_SIZE * (size_t)game->plies)
        return refused(err, "%zu bytes are a wrong size for %d plies", rest - 3, game->plies);
    return moves_read(at + 3, game, err);
}

// Sets `err` to the message, with the position in the file.
__attribute__((format(printf, 3, 4))) static GameReadStatus
damaged(const GameReader *reader, Refusal *err, const char *format, ...) {
    char reason[sizeof err->message - 60];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    refused(err, "record at byte %" PRIu64 ", after %" PRIu64 " games: %s", reader->offset,
            reader->games, reason);
    return GAME_DAMAGED;
}

// Reads one piece as fread does, but distinguishes the end of the file from a failure.
static bool fetch(GameReader *reader, uint8_t *out, size_t size, size_t *got) {
    errno = 0;
    *got = fread(out, 1, size, reader->in);
    return *got == size;
}

GameReadStatus game_reader_next(GameReader *reader, GameFileRecord *out, Refusal *err) {
    uint8_t prefix[PREFIX_SIZE];
    size_t got;
    Refusal reason;
    if (!fetch(reader, prefix, sizeof prefix, &got)) {
        if (ferror(reader->in))
            return damaged(reader, err, "cannot be read: %s", strerror(errno));
        return got == 0 ? GAME_END : damaged(reader, err, "the file ends within the record");
    }
    uint32_t size = get32(prefix), sum = get32(prefix + 4);
    if (size > GAMEFILE_PAYLOAD_MAX)
        return damaged(reader, err, "a game cannot have %" PRIu32 " bytes", size);
    if (!fetch(reader, reader->payload, size, &got))
        return damaged(reader, err, "the file ends within the record");
    if (checksum_crc32(0, reader->payload, size) != sum)
        return damaged(reader, err, "the checksum is wrong");
    if (!payload_read(reader->payload, size, out, &reason))
        return damaged(reader, err, "%s", reason.message);
    reader->games++;
    reader->offset += sizeof prefix + size;
    return GAME_READ;
}
