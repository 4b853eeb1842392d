// A toy engine for tests of the match runner. It answers at once with a legal move that depends on
// nothing but the position and its Seed, and it misbehaves on request:
//
//   toy [FAULT [AFTER]] [KEY=VALUE…]
//
// FAULT is an answer ("illegal") or a deed with its moment ("hang@newgame"; "go" where none is
// named), AFTER the number of own moves in a game before it shows; the UCI options Mode and After
// are the same. `toy --modes` lists the faults. A deed is done once a game. Keys:
//   folder=DIR  count processes and faults there     faults=N  show the fault N times in all
//   spare=N     the first N processes behave         token=TEXT#0000  where the number is noted
//   think=MS   use that much CPU time for each move
//   steal=WAY  compute in the opponent's time: thread, threads, processes, orphans, ignored
//   plan=FILE   "FAULT AFTER" a line, the process's number says which; without a line: none
// Options: Score: `constant`, or `a,b,c…` one a move, the last one repeated; "none" for no score,
// "m3" for mate in 3. Script: the game's moves behind the FEN. Sleep: ms a move for "sleep".
// Not an engine that anyone should play against.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/kit/toy.h"

void toy_say(const char *text) {
    toy_say_raw(text, strlen(text));
}

void toy_say_raw(const char *text, size_t size) {
    while (size) {
        ssize_t done = write(STDOUT_FILENO, text, size);
        if (done <= 0)
            _exit(0);
        text += done;
        size -= (size_t)done;
    }
}

// ---- the position -------------------------------------------------------------------------------

static bool set_start(Toy *toy, const char *text, const char *end) {
    Refusal err;
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
    if (!goes_on) {
        known = 0;
        toy->plies = 0;
    }
    char word[MOVE_TEXT_MAX];
    Undo undo;
    for (int used; sscanf(rest, " %15s%n", word, &used) == 1; rest += used) {
        Move move = move_from_uci(&toy->now, word);
        if (move == MOVE_NONE)
            break;
        position_make(&toy->now, move, &undo);
        toy->plies++;
    }
    memcpy(toy->known + known, text + known, strlen(text + known) + 1);
}

// The script's word for this ply; whatever is wrong with it is the test's fault.
static Move scripted(const Toy *toy) {
    char word[MOVE_TEXT_MAX] = "";
    const char *rest = toy->script;
    for (int i = 0, used; i <= toy->plies && sscanf(rest, " %15s%n", word, &used) == 1; i++)
        rest += used;
    Move move = move_from_uci(&toy->now, word);
    if (move == MOVE_NONE)
        fprintf(stderr, "toy: the script's word %d, \"%s\", is no move\n", toy->plies + 1, word);
    return move;
}

static Move choose(const Toy *toy) {
    MoveList list;
    if (toy->script)
        return scripted(toy);
    movegen_legal(&toy->now, &list);
    if (!list.size)
        return MOVE_NONE;
    uint64_t mix = (toy->now.key ^ toy->seed * UINT64_C(0x9e3779b97f4a7c15)) + 0x1234567;
    mix = (mix ^ mix >> 31) * UINT64_C(0xbf58476d1ce4e5b9);
    mix = (mix ^ mix >> 29) * UINT64_C(0x94d049bb133111eb);
    return list.moves[(mix >> 32) % (uint64_t)list.size];
}

// ---- UCI ----------------------------------------------------------------------------------------

static int number_after(const char *line, const char *word) {
    const char *at = strstr(line, word);
    return at ? (int)strtol(at + strlen(word), NULL, 10) : 0;
}

static void go(Toy *toy, const char *line) {
    Move move = choose(toy);
    bool white = toy->now.side == WHITE;
    toy_rest(false);
    toy_burn_ms(toy->think_ms);
    toy->left_ms = number_after(line, white ? " wtime " : " btime ");
    toy_moment(toy, AT_GO);
    toy->showing = !toy->deed && toy_fault_is_due(toy, AT_GO) ? toy->answer : ANSWER_OK;
    toy_answer(toy, move);
    move_to_uci(&toy->now, move, toy->last);
    toy->moves++;
    toy_rest(true);
    toy_moment(toy, AT_AFTER);
}

static void set_fault(Toy *toy, const char *text) {
    if (toy_set_fault(toy, text))
        return;
    fprintf(stderr, "toy: no fault \"%s\"; toy --modes lists them\n", text);
    exit(2);
}

static void set_option(Toy *toy, const char *line) {
    const char *value = strstr(line, " value ");
    char name[64];
    toy_moment(toy, AT_OPTION);
    if (!value || sscanf(line, "setoption name %63s", name) != 1)
        return;
    value += 7;
    if (strcmp(name, "Seed") == 0)
        toy->seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "Mode") == 0)
        set_fault(toy, value);
    else if (strcmp(name, "After") == 0)
        toy->after = (int)strtol(value, NULL, 10);
    else if (strcmp(name, "Sleep") == 0)
        toy->sleep_ms = (int)strtol(value, NULL, 10);
    else if (strcmp(name, "Score") == 0)
        snprintf(toy->scores, sizeof toy->scores, "%s", value);
    else if (strcmp(name, "UCI_Chess960") == 0)
        toy->chess960 = strcmp(value, "true") == 0;
    else if (strcmp(name, "Script") == 0)
        toy->script = memcpy(toy->script_text, value, strlen(value) + 1);
}

static void greet(Toy *toy) {
    toy_moment(toy, AT_UCI);
    toy_say(
        "id name Toy\nid author Patchmate\noption name Seed type string default 0\n"
        "option name Mode type string default ok\noption name After type string default 0\n"
        "option name Score type string default 0\noption name Script type string default <empty>\n"
        "option name Sleep type string default 0\n"
        "option name Threads type spin default 1 min 1 max 64\n"
        "option name Hash type spin default 1 min 1 max 1024\n"
        "option name UCI_Chess960 type check default false\nuciok\n");
}

static void new_game(Toy *toy) {
    toy->moves = 0;
    toy->known[0] = 0;
    toy->shown = false;
    toy->games++;
    toy_moment(toy, AT_NEWGAME);
}

static bool starts(const char *line, const char *word) {
    return strncmp(line, word, strlen(word)) == 0;
}

static void obey(Toy *toy, const char *line) {
    if (starts(line, "position"))
        read_position(toy, line);
    else if (starts(line, "go"))
        go(toy, line);
    else if (starts(line, "isready")) {
        toy_moment(toy, toy->games ? AT_READY : AT_READY0);
        toy_say("readyok\n");
    } else if (starts(line, "ucinewgame"))
        new_game(toy);
    else if (starts(line, "uci"))
        greet(toy);
    else if (starts(line, "setoption"))
        set_option(toy, line);
    else if (starts(line, "stop"))
        toy_moment(toy, AT_STOP);
    else if (starts(line, "quit")) {
        toy_moment(toy, AT_QUIT);
        exit(0);
    }
}

static void set_key(Toy *toy, const char *word) {
    if (starts(word, "folder="))
        toy->folder = word + 7;
    else if (starts(word, "faults="))
        toy->faults = (int)strtol(word + 7, NULL, 10);
    else if (starts(word, "spare="))
        toy->spare = (int)strtol(word + 6, NULL, 10);
    else if (starts(word, "think="))
        toy->think_ms = (int)strtol(word + 6, NULL, 10);
    else if (starts(word, "steal="))
        toy_steal(word + 6);
}

static void follow_plan(Toy *toy, const char *path) {
    char line[128], fault[64] = "ok";
    FILE *f = fopen(path, "r");
    for (int i = 0; f && i < toy->number && fgets(line, sizeof line, f); i++)
        if (i + 1 == toy->number)
            sscanf(line, "%63s %d", fault, &toy->after);
    if (f)
        fclose(f);
    set_fault(toy, fault);
}

static void read_arguments(Toy *toy, int argc, char **argv) {
    int plain = 0;
    const char *plan = NULL;
    for (int i = 1; i < argc; i++)
        if (starts(argv[i], "plan="))
            plan = argv[i] + 5;
        else if (strchr(argv[i], '='))
            set_key(toy, argv[i]);
        else if (plain++ == 0)
            set_fault(toy, argv[i]);
        else
            toy->after = (int)strtol(argv[i], NULL, 10);
    toy_take_number(toy, argv);
    if (plan)
        follow_plan(toy, plan);
}

int main(int argc, char **argv) {
    static Toy toy = {.scores = "0"};
    rules_init();
    if (argc > 1 && strcmp(argv[1], "--modes") == 0) {
        toy_list_faults();
        return 0;
    }
    read_arguments(&toy, argc, argv);
    toy_moment(&toy, AT_START);
    while (fgets(toy.line, sizeof toy.line, stdin)) {
        toy.line[strcspn(toy.line, "\r\n")] = 0;
        obey(&toy, toy.line);
    }
    return 0;
}
