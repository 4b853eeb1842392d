// How the toy engine prints its move, correctly or with a fault (toy.h).
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "tests/kit/toy.h"

// The score's text for this move: "cp 13", "mate 3", or "".
static void score_text(const Toy *toy, char *out, size_t size) {
    const char *at = toy->scores;
    for (int i = 0; i < toy->moves && strchr(at, ','); i++)
        at = strchr(at, ',') + 1;
    int length = (int)strcspn(at, ",");
    if (toy->showing == ANSWER_MATESCORE)
        snprintf(out, size, "mate -3");
    else if (toy->showing == ANSWER_FALSEMATE)
        snprintf(out, size, "mate 1");
    else if (toy->showing == ANSWER_HUGESCORE)
        snprintf(out, size, "cp 99999999999999999999999");
    else if (strncmp(at, "none", 4) == 0 || toy->showing == ANSWER_NOSCORE)
        snprintf(out, size, "%s", "");
    else if (*at == 'm')
        snprintf(out, size, "mate %.*s", length - 1, at + 1);
    else
        snprintf(out, size, "cp %.*s", length, at);
}

// ---- the move's text ----------------------------------------------------------------------------

static void upper(char *text) {
    for (; *text; text++)
        *text = (char)toupper((unsigned char)*text);
}

// Castling as the other convention writes it: the rook's square in classical chess, the king's
// target in Chess960.
static void rook_castle(const Toy *toy, char *text) {
    static const char *const pairs[][2] = {
        {"e1g1", "e1h1"}, {"e1c1", "e1a1"}, {"e8g8", "e8h8"}, {"e8c8", "e8a8"}};
    for (size_t i = 0; i < 4; i++)
        if (strcmp(text, pairs[i][toy->chess960]) == 0) {
            memcpy(text, pairs[i][!toy->chess960], 5);
            return;
        }
}

static void spoil_promotion(Answer answer, char *text) {
    if (strlen(text) != 5)
        return;
    if (answer == ANSWER_NOPROMOTION)
        text[4] = 0;
    else
        text[4] = answer == ANSWER_WRONGPROMOTION ? 'k' : (char)toupper((unsigned char)text[4]);
}

// Writes the printed form of the move into `text`, which has room for 512 bytes.
static void spoil_move(const Toy *toy, Move move, char *text) {
    static const struct {
        Answer answer;
        const char *text;
    } fixed[] = {{ANSWER_ILLEGAL, "e2e5"},   {ANSWER_ILLEGALTWICE, "e2e5\nbestmove e2e5"},
                 {ANSWER_BADSYNTAX, "Nf3!"}, {ANSWER_NULLMOVE, "0000"},
                 {ANSWER_NONE, "(none)"},    {ANSWER_EMPTY, ""}};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (toy->showing == fixed[i].answer)
            memcpy(text, fixed[i].text, strlen(fixed[i].text) + 1);
    if (toy->showing == ANSWER_UPPERCASE)
        upper(text);
    else if (toy->showing == ANSWER_STUCK && toy->moves)
        memcpy(text, toy->last, sizeof toy->last);
    else if (toy->showing == ANSWER_OTHERSIDE)
        memcpy(text, toy->now.side == WHITE ? "e7e5" : "e2e4", 5);
    else if (toy->showing == ANSWER_DOUBLEMOVE)
        memcpy(text + 4, "e5", 3);
    else if (toy->showing == ANSWER_SANMOVE)
        move_to_san(&toy->now, move, text);
    else if (toy->showing == ANSWER_HUGEMOVE)
        memset(text + 4, 'q', 500);
    else if (toy->showing == ANSWER_ROOKCASTLE)
        rook_castle(toy, text);
    else if (toy->showing >= ANSWER_NOPROMOTION && toy->showing <= ANSWER_WRONGPROMOTION)
        spoil_promotion(toy->showing, text);
}

// ---- the lines ----------------------------------------------------------------------------------

static void say_in_pieces(const char *text, size_t pieces, int pause_ms) {
    size_t size = strlen(text);
    for (size_t i = 0; i < pieces; i++) {
        toy_say_raw(text + i * size / pieces, (i + 1) * size / pieces - i * size / pieces);
        toy_sleep_ms(pause_ms);
    }
}

static const char *line_end(Answer answer) {
    return answer == ANSWER_CRLF ? "\r\n" : answer == ANSWER_CRONLY ? "\r" : "\n";
}

static const char *between_words(Answer answer) {
    return answer == ANSWER_BLANKS ? "   " : answer == ANSWER_TABS ? "\t" : " ";
}

static void say_extra_infos(Answer answer) {
    if (answer == ANSWER_INFOBEST)
        toy_say("info string bestmove a1a1\ninfo depth 3 pv bestmove a1a1\n");
    else if (answer == ANSWER_UTF8)
        toy_say("info string Zugzwang \xe2\x99\x9a \xf0\x9f\x98\x80 \xc3\x28 na\xc3\xafve\n");
    for (int i = 0; i < 2000 && answer == ANSWER_MANYINFOS; i++)
        toy_say("info depth 1 seldepth 2 multipv 1 score cp 7 nodes 9 nps 1 time 1 pv e2e4\n");
}

static const char *behind_the_move(Answer answer) {
    return answer == ANSWER_TRAILING    ? " and nothing but e2e5\x01\xff"
           : answer == ANSWER_PONDER    ? " ponder e7e5"
           : answer == ANSWER_BADPONDER ? " ponder"
                                        : "";
}

// The principal variation: the move alone, as it is printed, unless that is the fault.
static void pv_of(const Toy *toy, const char *move, char out[32]) {
    MoveList legal;
    movegen_legal(&toy->now, &legal);
    snprintf(out, 32, "%.8s%s", move, toy->showing == ANSWER_WRONGPV ? " a1a1" : "");
    for (int i = 0; i < legal.size && toy->showing == ANSWER_OTHERPV; i++) {
        char text[MOVE_TEXT_MAX];
        if (strcmp(move_to_uci(&toy->now, legal.moves[i], text), move) != 0)
            memcpy(out, text, strlen(text) + 1);
    }
}

static void say_move(const Toy *toy, const char *move) {
    char score[64], pv[32], text[2048];
    Answer answer = toy->showing;
    const char *gap = between_words(answer);
    score_text(toy, score, sizeof score);
    pv_of(toy, move, pv);
    snprintf(text, sizeof text, "info depth %s%s%s nodes %s pv %s%s%s%s%s%s%s%s",
             answer == ANSWER_BADDEPTH ? "-7" : "1", *score ? " score " : "", score,
             answer == ANSWER_HUGENODES ? "999999999999999999999999" : "20", pv, line_end(answer),
             answer == ANSWER_BLANKS ? "  " : "", answer == ANSWER_NOWORD ? "move" : "bestmove",
             gap, move, behind_the_move(answer), answer == ANSWER_NONL ? "" : line_end(answer));
    if (answer == ANSWER_SPLIT)
        say_in_pieces(text, 3, 5);
    else if (answer == ANSWER_BYTEWISE)
        say_in_pieces(text, strlen(text), 1);
    else
        toy_say(text);
}

// ATFLAG: answers when its clock is used up, to the millisecond.
static void wait_before(const Toy *toy) {
    if (toy->showing == ANSWER_LATE)
        toy_sleep_ms(1500);
    else if (toy->showing == ANSWER_ATFLAG)
        toy_sleep_ms(toy->left_ms);
    else if (toy->showing == ANSWER_SLEEP)
        toy_sleep_ms(toy->sleep_ms);
    else if (toy->showing == ANSWER_SLOWSTART && toy->now.fullmove == 1 && toy->now.side == WHITE)
        toy_sleep_ms(200);
}

static bool falls_silent(Answer answer) {
    return answer == ANSWER_NONL || answer == ANSWER_CRONLY || answer == ANSWER_NOWORD ||
           answer == ANSWER_CLOSESTDIN;
}

void toy_answer(const Toy *toy, Move move) {
    char text[512], again[600];
    move_to_uci(&toy->now, move, text);
    wait_before(toy);
    if (toy->showing == ANSWER_CLOSESTDIN)
        close(STDIN_FILENO); // before the move is out, so that the next write must fail
    spoil_move(toy, move, text);
    say_extra_infos(toy->showing);
    say_move(toy, text);
    snprintf(again, sizeof again, "bestmove %s\n", text);
    if (toy->showing == ANSWER_DUPBEST2)
        toy_sleep_ms(10);
    if (toy->showing == ANSWER_DUPBEST || toy->showing == ANSWER_DUPBEST2)
        toy_say(again);
    if (falls_silent(toy->showing))
        for (;;)
            toy_sleep_ms(1000);
}
