// See output_check.h.
#include "worker/match/output_check.h"

#include <string.h>

#include "engine/rules/movegen.h"
#include "engine/rules/notation.h"
#include "worker/match/pv.h"

// Mates of up to so many plies are proved or disproved by trying all moves: a few thousand at most.
enum { MATE_TRIED_PLIES = 3 };

// ---- mates --------------------------------------------------------------------------------------

static bool is_checkmate(const Position *pos) {
    MoveList list;
    movegen_legal(pos, &list);
    return list.size == 0 && pos->checkers;
}

static bool is_stalemate(const Position *pos) {
    MoveList list;
    movegen_legal(pos, &list);
    return list.size == 0 && !pos->checkers;
}

static bool can_mate(const Position *pos, int plies);

// The side to move is mated within `plies`, whatever it plays. Draws by rule are left out, so that
// a mate is never denied that an engine without such rules may see.
static bool is_lost(const Position *pos, int plies) { // NOLINT(misc-no-recursion)
    MoveList list;
    movegen_legal(pos, &list);
    if (list.size == 0)
        return pos->checkers;
    for (int i = 0; i < list.size && plies > 0; i++) {
        Position next = *pos;
        Undo undo;
        position_make(&next, list.moves[i], &undo);
        if (!can_mate(&next, plies - 1))
            return false;
    }
    return plies > 0;
}

static bool can_mate(const Position *pos, int plies) { // NOLINT(misc-no-recursion)
    MoveList list;
    movegen_legal(pos, &list);
    for (int i = 0; i < list.size && plies > 0; i++) {
        Position next = *pos;
        Undo undo;
        position_make(&next, list.moves[i], &undo);
        if (is_lost(&next, plies - 1))
            return true;
    }
    return false;
}

// Whether the announced mate, `plies` from `pos`, is impossible after `played`.
static bool mate_is_disproved(const Position *pos, int plies, Move played) {
    Position next = *pos;
    Undo undo;
    if (plies > MATE_TRIED_PLIES)
        return false;
    if (plies < 1)
        return true; // mated already, and it has moved
    position_make(&next, played, &undo);
    return plies % 2 ? !is_lost(&next, plies - 1) : !can_mate(&next, plies - 1);
}

// ---- the principal variation --------------------------------------------------------------------

static bool is_square(const char *text) {
    return text[0] >= 'a' && text[0] <= 'h' && text[1] >= '1' && text[1] <= '8';
}

static bool looks_like_a_move(const char *text) {
    return strcmp(text, "0000") == 0 || (is_square(text) && is_square(text + 2));
}

// Plays the variation. `mate`: after so many plies it is to end in mate; 0: no mate is announced.
static SaidKind pv_check(Position pos, const MoveOutput *output, int mate, Move played) {
    char text[UCI_WORD_MAX];
    PvText pv = pv_text(output->line, output->size);
    int plies = 0;
    while (pv_next(&pv, text)) {
        Undo undo;
        Move move = move_from_uci(&pos, text);
        if (move == MOVE_NONE && plies > 0 && !looks_like_a_move(text))
            break;
        if (move == MOVE_NONE)
            return SAID_ILLEGAL_PV;
        if (plies == 0 && output->exact && move != played)
            return SAID_OTHER_MOVE;
        position_make(&pos, move, &undo);
        if (++plies == mate && !is_checkmate(&pos))
            return SAID_FALSE_MATE;
    }
    return mate && plies < mate && plies > 0 && is_stalemate(&pos) ? SAID_FALSE_MATE : SAID_KINDS;
}

static bool has_a_choice(const Position *pos) {
    MoveList list;
    movegen_legal(pos, &list);
    return list.size > 1;
}

SaidKind output_check(const Position *pos, const MoveOutput *output, Move played) {
    UciInfo info;
    uci_read_info(output->line, output->size, &info);
    bool is_mate = output->size && output->exact && uci_score_is_mate(info.score_cp);
    int mate = !is_mate            ? 0
               : info.score_cp > 0 ? UCI_SCORE_MATE - info.score_cp
                                   : UCI_SCORE_MATE + info.score_cp;
    SaidKind wrong = output->size ? pv_check(*pos, output, mate, played) : SAID_KINDS;
    if (wrong != SAID_KINDS)
        return wrong;
    if (is_mate && mate_is_disproved(pos, mate, played))
        return SAID_FALSE_MATE;
    if ((!output->has_score || !output->has_depth) && has_a_choice(pos))
        return SAID_NO_SCORE;
    return SAID_KINDS;
}

MoveOutput output_of(const EngineProcess *engine) {
    bool later = engine->later_size > 0;
    return (MoveOutput){
        .line = later ? engine->later : engine->info,
        .size = later ? engine->later_size : engine->info_size,
        .exact = !later && engine->info_kind == UCI_SCORE,
        .has_score = engine->info_size > 0,
        .has_depth = engine->has_depth,
    };
}

void output_count(const Position *pos, const MoveOutput *output, Move played, Said *said) {
    SaidKind wrong = output_check(pos, output, played);
    said->moves++;
    if (wrong != SAID_KINDS)
        said->wrong[wrong]++;
}
