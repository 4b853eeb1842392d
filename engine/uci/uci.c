// The UCI commands. go.c reads the arguments of `go`, info.c writes `info`, options.c has the
// options, thinker.c the thread that searches.
#include "uci/uci.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/words.h"
#include "rules/notation.h"
#include "search/evaluator.h"
#include "search/timer.h"
#include "uci/go.h"
#include "uci/info.h"
#include "uci/options.h"
#include "uci/thinker.h"

enum { QUIET_US = 20000 }; // how long reports may stay in the buffer

struct Uci {
    FILE *out;
    Search *search;
    Root root;
    UciOptions options;
    Thinker thinker;
    Position asked;      // the position that is searched; `position` may change `root` meanwhile
    int64_t line_us;     // when the current command was read
    int64_t quiet_until; // reports before this moment stay in the buffer
    char line[UCI_LINE_MAX];
};

// ---- output -----------------------------------------------------------------------------------

__attribute__((format(printf, 2, 3))) static void say(Uci *uci, const char *format, ...) {
    va_list args;
    va_start(args, format);
    flockfile(uci->out);
    vfprintf(uci->out, format, args);
    fputc('\n', uci->out);
    fflush(uci->out);
    funlockfile(uci->out);
    va_end(args);
}

// The first word of `text`, cut to a length that fits an error message.
static const char *excerpt(const char *text, char out[40]) {
    Word word = word_next(&text);
    size_t length = word.length < 39 ? word.length : 39;
    for (size_t i = 0; i < length; i++)
        out[i] = word.text[i] >= ' ' && word.text[i] <= '~' ? word.text[i] : '?';
    out[length] = '\0';
    return out;
}

// In very fast games each write costs time. So early reports stay in the buffer, and are sent with
// the first late report or with the answer. If the answer waits for `stop` (`go infinite`, `go
// ponder`), every report is sent at once.
static void on_report(void *context, const Root *root, const SearchInfo *info) {
    Uci *uci = context;
    char line[UCI_INFO_MAX];
    uci_info_text(root, info, line);
    flockfile(uci->out);
    fputs(line, uci->out);
    fputc('\n', uci->out);
    if (clock_now_us() >= uci->quiet_until)
        fflush(uci->out);
    funlockfile(uci->out);
}

// ---- searching ----------------------------------------------------------------------------------

static void *think(void *context) {
    Uci *uci = context;
    Position pos = uci->asked;
    SearchResult result = search_run(uci->search);
    char best[MOVE_TEXT_MAX] = "0000", ponder[MOVE_TEXT_MAX];
    if (result.best != MOVE_NONE)
        move_to_uci(&pos, result.best, best);
    thinker_answers(&uci->thinker);
    if (result.ponder == MOVE_NONE) {
        say(uci, "bestmove %s", best);
        return NULL;
    }
    Undo undo;
    position_make(&pos, result.best, &undo);
    say(uci, "bestmove %s ponder %s", best, move_to_uci(&pos, result.ponder, ponder));
    return NULL;
}

static bool is_busy(Uci *uci, const char *command) {
    if (thinker_is_free(&uci->thinker))
        return false;
    say(uci, "info string %s: a search is running, send stop first", command);
    return true;
}

// ---- commands ----------------------------------------------------------------------------------

static void do_uci(Uci *uci, const char *args) {
    (void)args;
    say(uci, "id name Anvil 1.0\nid author the Patchmate authors");
    options_print(uci->out);
    say(uci, "uciok");
}

static void do_isready(Uci *uci, const char *args) {
    (void)args;
    say(uci, "readyok");
}

static void do_ucinewgame(Uci *uci, const char *args) {
    (void)args;
    if (!is_busy(uci, "ucinewgame"))
        search_clear(uci->search);
}

static void do_setoption(Uci *uci, const char *args) {
    char problem[320];
    if (is_busy(uci, "setoption"))
        return;
    if (!options_set(&uci->options, uci->search, args, problem, sizeof problem))
        say(uci, "info string setoption: %s", problem);
}

// The FEN ends where the moves begin.
static bool read_fen(Uci *uci, const char **cursor, Position *pos) {
    char fen[FEN_MAX] = "";
    size_t length = 0;
    Refusal err;
    for (;;) {
        const char *next = *cursor;
        Word word = word_next(&next);
        if (word.length == 0 || word_is(word, "moves"))
            break;
        if (length + word.length + 2 > sizeof fen) {
            say(uci, "info string position: the FEN is too long");
            return false;
        }
        memcpy(fen + length, word.text, word.length);
        length += word.length;
        fen[length++] = ' ';
        fen[length] = '\0';
        *cursor = next;
    }
    if (position_from_fen(pos, fen, uci->options.chess960, &err))
        return true;
    say(uci, "info string position: %s", err.message);
    return false;
}

static bool play_moves(Uci *uci, const char *cursor, Root *root) {
    char text[MOVE_TEXT_MAX], shown[40];
    for (Word word; (word = word_next(&cursor)).length > 0;) {
        Move move =
            word_copy(word, text, sizeof text) ? move_from_uci(&root->pos, text) : MOVE_NONE;
        if (move == MOVE_NONE) {
            say(uci, "info string position: %s is no legal move here; the old position stays",
                excerpt(word.text, shown));
            return false;
        }
        root_play(root, move);
    }
    return true;
}

static void do_position(Uci *uci, const char *args) {
    Position pos;
    Root root;
    Refusal err;
    Word word = word_next(&args);
    if (word_is(word, "startpos")) {
        if (!position_from_fen(&pos, POSITION_START_FEN, uci->options.chess960, &err))
            return;
    } else if (!word_is(word, "fen")) {
        say(uci, "info string position: expected startpos or fen");
        return;
    } else if (!read_fen(uci, &args, &pos)) {
        return;
    }
    root_init(&root, &pos);
    word = word_next(&args);
    if (word.length > 0 && !word_is(word, "moves")) {
        say(uci, "info string position: expected moves");
        return;
    }
    if (play_moves(uci, args, &root))
        uci->root = root;
}

static void do_go(Uci *uci, const char *args) {
    if (is_busy(uci, "go"))
        return;
    const char *bad = args;
    char shown[40];
    SearchLimits limits = {.overhead_ms = uci->options.overhead_ms,
                           .multi_pv = uci->options.multi_pv,
                           .start_us = uci->line_us};
    if (!uci_parse_go(args, &uci->root.pos, &limits, &bad)) {
        // The GUI waits for a move, and the limit may be in the part that cannot be read. So the
        // search must be short.
        say(uci, "info string go: cannot read %s and the rest of the line", excerpt(bad, shown));
        limits.depth = 1;
    }
    bool answer_waits = limits.infinite || limits.ponder;
    uci->quiet_until = answer_waits ? 0 : uci->line_us + QUIET_US;
    uci->asked = uci->root.pos;
    search_prepare(uci->search, &uci->root, &limits);
    thinker_start(&uci->thinker, think, uci);
}

static void do_stop(Uci *uci, const char *args) {
    (void)args;
    search_stop(uci->search);
    thinker_stop(&uci->thinker);
}

static void do_ponderhit(Uci *uci, const char *args) {
    (void)args;
    search_ponderhit(uci->search);
}

static void do_show(Uci *uci, const char *args) {
    (void)args;
    const Position *pos = &uci->root.pos;
    char fen[FEN_MAX];
    for (int rank = 7; rank >= 0; rank--) {
        char row[17] = "";
        for (int file = 0; file < 8; file++) {
            row[2 * file] = "PNBRQK?.pnbrqk??"[pos->board[square_make(file, rank)]];
            row[2 * file + 1] = ' ';
        }
        say(uci, "%s", row);
    }
    say(uci, "Fen: %s\nKey: %016llx", position_to_fen(pos, fen), (unsigned long long)pos->key);
}

static void do_eval(Uci *uci, const char *args) {
    (void)args;
    if (is_busy(uci, "eval"))
        return;
    say(uci, "eval %d cp for the side to move",
        position_evaluate(&uci->root.pos, uci->options.net));
}

static const struct {
    const char *name;
    void (*obey)(Uci *uci, const char *args);
} UCI_COMMANDS[] = {
    {"go", do_go},           {"position", do_position},   {"stop", do_stop},
    {"isready", do_isready}, {"ponderhit", do_ponderhit}, {"ucinewgame", do_ucinewgame},
    {"uci", do_uci},         {"setoption", do_setoption}, {"d", do_show},
    {"eval", do_eval},
};

bool uci_line(Uci *uci, const char *line) {
    char shown[40];
    uci->line_us = clock_now_us();
    const char *args = line;
    Word word = word_next(&args);
    if (word.length == 0)
        return true;
    if (word_is(word, "quit"))
        return false;
    for (size_t i = 0; i < sizeof UCI_COMMANDS / sizeof *UCI_COMMANDS; i++)
        if (word_is(word, UCI_COMMANDS[i].name)) {
            UCI_COMMANDS[i].obey(uci, args);
            return true;
        }
    say(uci, "info string unknown command: %s", excerpt(word.text, shown));
    return true;
}

// ---- setup -------------------------------------------------------------------------------------

Uci *uci_new(FILE *out) {
    Uci *uci = calloc(1, sizeof *uci);
    if (!uci) {
        fputs("anvil: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    uci->out = out;
    options_init(&uci->options);
    uci->search = search_new(TT_DEFAULT_MB, 1);
    search_on_report(uci->search, on_report, uci);
    uci_line(uci, "position startpos");
    return uci;
}

void uci_free(Uci *uci) {
    if (!uci)
        return;
    search_stop(uci->search);
    thinker_join(&uci->thinker);
    search_free(uci->search);
    options_release(&uci->options);
    free(uci);
}

static void discard_rest(FILE *in) {
    for (int c; (c = fgetc(in)) != EOF && c != '\n';)
        ;
}

void uci_loop(Uci *uci, FILE *in) {
    char *line = uci->line;
    while (fgets(line, UCI_LINE_MAX, in)) {
        size_t length = strlen(line);
        if (length + 1 == UCI_LINE_MAX && line[length - 1] != '\n') {
            discard_rest(in);
            say(uci, "info string ignored a line longer than %d bytes", UCI_LINE_MAX);
        } else if (!uci_line(uci, line)) {
            return;
        }
    }
}
