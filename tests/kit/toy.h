// The parts of the toy engine (tests/tools/toy.c): its faults, and when it shows them. A deed is a
// fault of the process and may come at any moment. An answer is a wrong form of the move and comes
// with "go" only.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/rules/notation.h"

typedef enum {
    AT_START, // before anything is read
    AT_UCI,   // "uci"
    AT_OPTION,
    AT_READY0, // the first "isready"
    AT_NEWGAME,
    AT_READY, // any later "isready"
    AT_GO,
    AT_AFTER, // the bestmove is out
    AT_STOP,
    AT_QUIT,
    MOMENT_COUNT
} Moment;

// clang-format off
#define ANSWERS(X) \
    X(OK) X(ILLEGAL) X(BADSYNTAX) X(UPPERCASE) X(NULLMOVE) X(NONE) X(EMPTY) X(NOWORD) X(STUCK) \
    X(OTHERSIDE) X(DOUBLEMOVE) X(SANMOVE) X(HUGEMOVE) X(ILLEGALTWICE) X(ROOKCASTLE) X(NOPROMOTION) \
    X(UPPERPROMOTION) X(WRONGPROMOTION) X(LATE) X(ATFLAG) X(SLOWSTART) X(SLEEP) X(NONL) \
    X(CLOSESTDIN) X(CRONLY) X(CRLF) X(BLANKS) X(TABS) X(TRAILING) X(PONDER) X(BADPONDER) \
    X(DUPBEST) X(DUPBEST2) X(SPLIT) X(BYTEWISE) X(NOSCORE) X(MATESCORE) X(HUGESCORE) X(HUGENODES) \
    X(BADDEPTH) X(INFOBEST) X(MANYINFOS) X(UTF8) X(WRONGPV) X(OTHERPV) X(FALSEMATE)
// clang-format on
#define TOY_CONSTANT(name) ANSWER_##name,
typedef enum { ANSWERS(TOY_CONSTANT) ANSWER_COUNT } Answer;

typedef struct Deed {
    const char *name;
    void (*act)(void);
} Deed;

typedef struct Toy {
    const Deed *deed;       // NULL: none
    Answer answer, showing; // the fault, and what of it this move shows
    Moment moment;
    int after;          // own moves in a game before the fault shows
    int moves;          // own moves made in this game
    int games;          // ucinewgame seen
    bool shown;         // the fault, in this game
    const char *folder; // where processes and faults are counted, over all toys of a match; or NULL
    int number;         // of this process among them, from 1
    int spare;          // processes up to this number behave
    int faults;         // how often the fault shows in all; 0: always
    int sleep_ms;       // SLEEP
    int think_ms;       // CPU time that it uses for each move
    int left_ms;        // own clock as sent with the last "go"
    char last[MOVE_TEXT_MAX]; // own last move
    uint64_t seed;
    char scores[4096];
    const char *script; // moves of the game behind its FEN, separated by blanks; or NULL
    int plies;          // behind the FEN
    bool chess960;
    Position now;
    char known[1 << 17]; // the position command that led to `now`
    char line[1 << 17];
    char script_text[1 << 15];
} Toy;

void toy_say(const char *text);
void toy_say_raw(const char *text, size_t size);
void toy_sleep_ms(int ms);

// "hang", "hang@ready", "illegal", or an old short name ("hanggo"); any case. False if there is no
// such fault.
bool toy_set_fault(Toy *toy, const char *text);
void toy_list_faults(void);
// Counts this process and notes its number in place of "#0000" in its own command line.
void toy_take_number(Toy *toy, char **argv);
// Whether the fault shows now and, for a deed, has not shown in this game before.
bool toy_fault_is_due(Toy *toy, Moment moment);
// Does the deed if it is due. Most do not return.
void toy_moment(Toy *toy, Moment moment);

// From now on the engine uses CPU time while it is not to move: by one "thread", by "threads" or
// "processes" of 5 ms, by "orphans", or by processes whose end it has "ignored".
void toy_steal(const char *way);
void toy_rest(bool rests); // whether it is not to move
void toy_burn_ms(int ms);  // uses CPU time

// Prints `move`, correctly or with the fault.
void toy_answer(const Toy *toy, Move move);
