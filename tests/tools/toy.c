// A toy engine for tests of the match runner. It answers at once with a legal move that depends on
// nothing but the position and its Seed, and it misbehaves on request: `toy MODE [N]`, or the UCI
// options Mode and After, choose a fault and the number of own moves in a game before it shows.
// `toy --modes` lists the faults. Score: `constant`, or `a,b,c…` one a move, the last one repeated;
// "none" for no score, "m3" for mate in 3. Not an engine that anyone should play against.
#include <ctype.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "../../engine/rules/notation.h"

// clang-format off
#define MODES(X) \
    X(OK) X(NOUCIOK) X(HANGREADY0) X(HANGREADY) X(HANGGO) X(CRASHSTART) X(CRASHREADY) \
    X(CRASHNEW) X(CRASHGO) X(CRASHSTOP) X(CRASHQUIT) X(EXITGO) X(EXITNEW) X(ILLEGAL) \
    X(BADSYNTAX) X(UPPERCASE) X(NULLMOVE) X(NONE) X(EMPTY) X(CHATTER) X(FLOOD) X(LATE) \
    X(NONL) X(CRLF) X(DUPBEST) X(DUPBEST2) X(BESTEXIT) X(HALFEXIT) X(SPLIT) X(NOSCORE) \
    X(MATESCORE) X(HUGESCORE) X(STDERRFLOOD) X(CLOSESTDIN) X(CLOSESTDOUT) X(IGNOREQUIT) \
    X(CHILDHOLD) X(GARBAGE) X(NULBYTES) X(LONGLINE) X(SLOWSTART) X(STUCK)
// clang-format on
#define NAME(mode) #mode,
#define CONSTANT(mode) mode,
typedef enum { MODES(CONSTANT) MODE_COUNT } Mode;
static const char *const mode_names[MODE_COUNT] = {MODES(NAME)}; // any case will do

typedef struct Toy {
    Mode mode;
    int after;                // own moves in a game before the fault shows
    int moves;                // own moves made in this game
    int games;                // ucinewgame seen
    char last[MOVE_TEXT_MAX]; // own last move
    uint64_t seed;
    char scores[4096];
    bool chess960;
    Position now;
    char known[1 << 16]; // the position command that led to `now`
    char line[1 << 16];
} Toy;

static void say(const char *text) {
    size_t size = strlen(text);
    while (size) {
        ssize_t done = write(STDOUT_FILENO, text, size);
        if (done <= 0)
            _exit(0);
        text += done;
        size -= (size_t)done;
    }
}

static void say_raw(const char *text, size_t size) {
    if (write(STDOUT_FILENO, text, size) < 0)
        _exit(0);
}

static void sleep_ms(int ms) {
    struct timespec time = {ms / 1000, (long)(ms % 1000) * 1000000};
    nanosleep(&time, NULL);
}

static void hang(void) {
    for (;;)
        sleep_ms(1000);
}

static bool faulty(const Toy *toy, Mode mode) {
    return toy->mode == mode && toy->moves >= toy->after;
}

// ---- the position -------------------------------------------------------------------------------

static bool set_start(Toy *toy, const char *text, const char *end) {
    RulesError err;
    char fen[FEN_MAX] = "";
    if (strncmp(text, "position fen ", 13) == 0 && end - text - 13 < (int)sizeof fen)
        memcpy(fen, text + 13, (size_t)(end - text - 13));
    return position_from_fen(&toy->now, *fen ? fen : POSITION_START_FEN, toy->chess960, &err);
}

// A game's next position begins with the text of the last one: only the tail is played.
static void read_position(Toy *toy, const char *text) {
    size_t known = strlen(toy->known); // the same buffer size as the line's: it always fits
    const char *moves = strstr(text, " moves ");
    const char *rest = moves ? moves + 7 : "";
    bool goes_on =
        moves && known && strstr(toy->known, " moves ") && strncmp(text, toy->known, known) == 0;
    if (goes_on)
        rest = text + known;
    else if (!set_start(toy, text, moves ? moves : text + strlen(text)))
        return;
    if (!goes_on)
        known = 0;
    char word[MOVE_TEXT_MAX];
    Undo undo;
    for (int used; sscanf(rest, " %15s%n", word, &used) == 1; rest += used) {
        Move move = move_from_uci(&toy->now, word);
        if (move == MOVE_NONE)
            break;
        position_make(&toy->now, move, &undo);
    }
    memcpy(toy->known + known, text + known, strlen(text + known) + 1);
}

static Move choose(const Toy *toy) {
    MoveList list;
    movegen_legal(&toy->now, &list);
    if (!list.size)
        return MOVE_NONE;
    uint64_t mix = (toy->now.key ^ toy->seed * UINT64_C(0x9e3779b97f4a7c15)) + 0x1234567;
    mix = (mix ^ mix >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    mix = (mix ^ mix >> 29) * UINT64_C(0x94d049bb133111eb);
    return list.moves[(mix >> 32) % (uint64_t)list.size];
}

// ---- the answer ---------------------------------------------------------------------------------

// The score's text for this move: "cp 13", "mate 3", or "".
static void score_text(const Toy *toy, char *out, size_t size) {
    const char *at = toy->scores;
    for (int i = 0; i < toy->moves && strchr(at, ','); i++)
        at = strchr(at, ',') + 1;
    int length = (int)strcspn(at, ",");
    if (toy->mode == MATESCORE)
        snprintf(out, size, "mate -3");
    else if (toy->mode == HUGESCORE)
        snprintf(out, size, "cp 99999999999999999999999");
    else if (strncmp(at, "none", 4) == 0 || toy->mode == NOSCORE)
        snprintf(out, size, "%s", "");
    else if (*at == 'm')
        snprintf(out, size, "mate %.*s", length - 1, at + 1);
    else
        snprintf(out, size, "cp %.*s", length, at);
}

static void flood(void) {
    static char block[1 << 16];
    memset(block, 'x', sizeof block);
    for (;;)
        say_raw(block, sizeof block);
}

static void chatter(void) {
    for (;;) {
        say("info depth 1 score cp 1 nodes 1 pv e2e4\n");
        sleep_ms(5);
    }
}

static void hold_pipe(void) {
    if (fork() == 0)
        hang();
}

static void stderr_flood(void) {
    static char block[1 << 16];
    for (int i = 0; i < 64; i++)
        if (write(STDERR_FILENO, block, sizeof block) < 0)
            return;
}

static void long_line(void) {
    static char line[4 << 20];
    memset(line, 'y', sizeof line);
    memcpy(line, "info string ", 12);
    line[sizeof line - 1] = '\n';
    for (size_t at = 0; at < sizeof line; at += 1 << 16)
        say_raw(line + at, 1 << 16);
}

static bool at_start(const Toy *toy) {
    return toy->now.fullmove == 1 && toy->now.side == WHITE;
}

// Faults that come instead of an answer, or before one.
static void misbehave_before(const Toy *toy) {
    if (faulty(toy, HANGGO))
        hang();
    else if (faulty(toy, CRASHGO))
        raise(SIGSEGV);
    else if (faulty(toy, EXITGO))
        _exit(0);
    else if (faulty(toy, CHATTER))
        chatter();
    else if (faulty(toy, FLOOD))
        flood();
    else if (faulty(toy, LATE))
        sleep_ms(1500);
    else if (faulty(toy, SLOWSTART) && at_start(toy))
        sleep_ms(200);
    else if (faulty(toy, STDERRFLOOD))
        stderr_flood();
    else if (faulty(toy, CLOSESTDIN))
        close(STDIN_FILENO);
    else if (faulty(toy, CLOSESTDOUT)) {
        close(STDOUT_FILENO);
        hang();
    } else if (faulty(toy, CHILDHOLD))
        hold_pipe();
    else if (faulty(toy, LONGLINE))
        long_line();
    else if (faulty(toy, GARBAGE))
        say("\x01\xff\xfe%s%n bestmove\n\n\ninfo\ninfo score\nreadyok\nxbestmove a1a1\n");
    else if (faulty(toy, NULBYTES))
        say_raw("a\0b\0\n\0", 6);
}

// What is said in place of the move, or NULL.
static const char *wrong_move(const Toy *toy) {
    static const struct {
        Mode mode;
        const char *text;
    } wrong[] = {
        {ILLEGAL, "e2e5"}, {BADSYNTAX, "Nf3!"}, {NULLMOVE, "0000"}, {NONE, "(none)"}, {EMPTY, ""}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (faulty(toy, wrong[i].mode))
            return wrong[i].text;
    return NULL;
}

static void say_in_pieces(const char *text) {
    size_t size = strlen(text);
    for (size_t i = 0; i < 3; i++) {
        say_raw(text + i * size / 3, (i + 1) * size / 3 - i * size / 3);
        sleep_ms(5);
    }
}

static void answer(const Toy *toy, const char *move) {
    char score[64], text[256];
    const char *end = faulty(toy, NONL) ? "" : faulty(toy, CRLF) ? "\r\n" : "\n";
    score_text(toy, score, sizeof score);
    snprintf(text, sizeof text, "info depth 1%s%s nodes 20 pv %s%sbestmove %s%s",
             *score ? " score " : "", score, move, faulty(toy, CRLF) ? "\r\n" : "\n", move, end);
    if (faulty(toy, SPLIT))
        say_in_pieces(text);
    else
        say(text);
}

static void misbehave_after(const Toy *toy, const char *move) {
    char again[64];
    snprintf(again, sizeof again, "bestmove %s\n", move);
    if (faulty(toy, DUPBEST2))
        sleep_ms(10);
    if (faulty(toy, DUPBEST) || faulty(toy, DUPBEST2))
        say(again);
    else if (faulty(toy, BESTEXIT))
        _exit(0);
    else if (faulty(toy, CLOSESTDIN) || faulty(toy, NONL))
        hang();
}

static void go(Toy *toy) {
    char text[MOVE_TEXT_MAX];
    Move move = choose(toy);
    move_to_uci(&toy->now, move, text);
    misbehave_before(toy);
    for (char *p = text; *p && faulty(toy, UPPERCASE); p++)
        *p = (char)toupper((unsigned char)*p);
    if (faulty(toy, HALFEXIT)) {
        say("bestmove e2");
        _exit(0);
    }
    if (faulty(toy, STUCK) && toy->moves)
        memcpy(text, toy->last, sizeof text);
    memcpy(toy->last, text, sizeof text);
    const char *wrong = wrong_move(toy);
    answer(toy, wrong ? wrong : text);
    misbehave_after(toy, text);
    toy->moves++;
}

// ---- UCI ----------------------------------------------------------------------------------------

static Mode mode_from(const char *name) {
    for (int i = 0; i < MODE_COUNT; i++)
        if (strcasecmp(mode_names[i], name) == 0)
            return (Mode)i;
    fprintf(stderr, "toy: no mode \"%s\"; toy --modes lists them\n", name);
    exit(2);
}

static void set_option(Toy *toy, const char *line) {
    char name[64], value[4096];
    if (sscanf(line, "setoption name %63s value %4095[^\n]", name, value) != 2)
        return;
    if (strcmp(name, "Seed") == 0)
        toy->seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "Mode") == 0)
        toy->mode = mode_from(value);
    else if (strcmp(name, "After") == 0)
        toy->after = (int)strtol(value, NULL, 10);
    else if (strcmp(name, "Score") == 0)
        snprintf(toy->scores, sizeof toy->scores, "%s", value);
    else if (strcmp(name, "UCI_Chess960") == 0)
        toy->chess960 = strcmp(value, "true") == 0;
}

static void greet(const Toy *toy) {
    say("id name Toy\nid author Patchmate\noption name Seed type string default 0\n"
        "option name Mode type string default ok\noption name After type string default 0\n"
        "option name Score type string default 0\noption name Threads type spin default 1 min 1 "
        "max 64\noption name Hash type spin default 1 min 1 max 1024\n"
        "option name UCI_Chess960 type check default false\n");
    if (toy->mode != NOUCIOK)
        say("uciok\n");
}

static void new_game(Toy *toy) {
    toy->moves = 0;
    toy->known[0] = 0;
    toy->games++;
    if (toy->mode == CRASHNEW)
        abort();
    if (toy->mode == EXITNEW)
        _exit(0);
}

static void is_ready(const Toy *toy) {
    if (toy->mode == HANGREADY0 || (toy->mode == HANGREADY && toy->games))
        hang();
    if (toy->mode == CRASHREADY && toy->games)
        abort();
    say("readyok\n");
}

static void quit(const Toy *toy) {
    if (toy->mode == CRASHQUIT)
        abort();
    if (toy->mode == IGNOREQUIT)
        hang();
    exit(0);
}

static bool starts(const char *line, const char *word) {
    return strncmp(line, word, strlen(word)) == 0;
}

static void obey(Toy *toy, const char *line) {
    if (starts(line, "position"))
        read_position(toy, line);
    else if (starts(line, "go"))
        go(toy);
    else if (starts(line, "isready"))
        is_ready(toy);
    else if (starts(line, "ucinewgame"))
        new_game(toy);
    else if (starts(line, "uci"))
        greet(toy);
    else if (starts(line, "setoption"))
        set_option(toy, line);
    else if (starts(line, "stop") && toy->mode == CRASHSTOP)
        abort();
    else if (starts(line, "quit"))
        quit(toy);
}

static void list_modes(void) {
    for (int i = 0; i < MODE_COUNT; i++)
        puts(mode_names[i]);
    exit(0);
}

int main(int argc, char **argv) {
    static Toy toy = {.scores = "0"};
    rules_init();
    if (argc > 1 && strcmp(argv[1], "--modes") == 0)
        list_modes();
    toy.mode = argc > 1 ? mode_from(argv[1]) : OK;
    toy.after = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 0;
    if (toy.mode == CRASHSTART)
        abort();
    while (fgets(toy.line, sizeof toy.line, stdin)) {
        toy.line[strcspn(toy.line, "\r\n")] = 0;
        obey(&toy, toy.line);
    }
    return 0;
}
