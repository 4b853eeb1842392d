// Move ordering: a move picker with stages, and the updates of the history tables that it uses.
#include "search/ordering.h"

#include "eval/pawn_cache.h"
#include "search/see.h"

// A quiet move may be a good continuation of the moves made so many plies ago: 1 is the opponent's
// last move, 2 our own move before it ("continuation history").
static const int CONTINUATIONS[] = {1, 2, 4, 6};
enum { CONTINUATION_COUNT = sizeof CONTINUATIONS / sizeof *CONTINUATIONS };

static int16_t *reply_slot(Frame *frame, Piece piece, Square to) {
    return &(*frame->replies)[piece][to];
}

// Good squares for a piece depend on the pawns ("pawn history", Stockfish).
static int16_t *pawn_slot(Searcher *s, Piece piece, Square to) {
    return &s->history.pawn[s->pos.pawn_key % PAWN_HISTORY_SIZE][piece][to];
}

int quiet_history(Searcher *s, Move move) {
    Square from = move_from(move), to = move_to(move);
    Piece piece = s->pos.board[from];
    Frame *frame = searcher_frame(s);
    int sum = s->history.quiet[s->pos.side][from][to] + *pawn_slot(s, piece, to);
    for (int i = 0; i < CONTINUATION_COUNT; i++)
        sum += *reply_slot(frame - CONTINUATIONS[i], piece, to);
    return sum;
}

static int16_t *capture_slot(Searcher *s, Move move) {
    return &s->history.capture[s->pos.board[move_from(move)]][move_to(move)]
                              [move_captured_type(&s->pos, move)];
}

int capture_history(Searcher *s, Move move) {
    return *capture_slot(s, move);
}

// The most valuable victim first; then captures with a good history; then the least valuable
// attacker.
static int capture_score(Searcher *s, Move move) {
    int victim = SEE_VALUE[move_captured_type(&s->pos, move)];
    int attacker = piece_type(s->pos.board[move_from(move)]);
    int promotion = move_kind(move) == MOVE_PROMOTION ? SEE_VALUE[move_promotion(move)] : 0;
    return 16 * (victim + promotion) + capture_history(s, move) / 8 - attacker;
}

static void captures_score(MovePicker *p) {
    for (int i = 0; i < p->list.size; i++)
        p->scores[i] = capture_score(p->searcher, p->list.moves[i]);
    p->next = 0;
}

// The squares on which a piece of ours can be taken by a piece that is worth less, by the type of
// our piece.
static void unsafe_squares(const Position *pos, Bitboard unsafe[PIECE_TYPE_NB]) {
    Color them = color_flip(pos->side);
    Bitboard occupied = position_occupied(pos);
    Bitboard attacked = pawns_attacks(them, position_pieces(pos, them, PAWN));
    unsafe[PAWN] = unsafe[KING] = 0;
    unsafe[KNIGHT] = unsafe[BISHOP] = attacked;
    for (Bitboard b = position_pieces(pos, them, KNIGHT); b;)
        attacked |= attacks_knight(bitboard_pop(&b));
    for (Bitboard b = position_pieces(pos, them, BISHOP); b;)
        attacked |= attacks_bishop(bitboard_pop(&b), occupied);
    unsafe[ROOK] = attacked;
    for (Bitboard b = position_pieces(pos, them, ROOK); b;)
        attacked |= attacks_rook(bitboard_pop(&b), occupied);
    unsafe[QUEEN] = attacked;
}

// Our pieces that any of their pieces attacks and none of ours defends. `attacked`: all squares
// that their pawns, knights, bishops and rooks attack.
static Bitboard hanging_pieces(const Position *pos, Bitboard attacked) {
    Color us = pos->side, them = color_flip(us);
    Bitboard occupied = position_occupied(pos), hanging = 0;
    for (Bitboard b = position_pieces(pos, them, QUEEN); b;)
        attacked |= attacks_queen(bitboard_pop(&b), occupied);
    attacked |= attacks_king(position_king(pos, them));
    Bitboard pieces = pos->by_color[us] & ~pos->by_type[PAWN] & ~pos->by_type[KING];
    for (Bitboard b = pieces & attacked; b;) {
        Square s = bitboard_pop(&b);
        if (!(position_attackers(pos, s, occupied) & pos->by_color[us]))
            hanging |= 1ull << s;
    }
    return hanging;
}

// The bonus for moving a piece from an unsafe square, and the malus for moving it to one.
static const int SAFETY[PIECE_TYPE_NB] = {
    [KNIGHT] = 10000, [BISHOP] = 10000, [ROOK] = 16000, [QUEEN] = 24000};

// Sorts by history, with a bonus for moves that save a piece, so that they are not pruned as late
// moves. Otherwise a shallow search believes that an attacked piece is lost (Stockfish, 2022: bonus
// for pieces threatened by lesser ones).
static void quiets_score(MovePicker *p) {
    const Position *pos = &p->searcher->pos;
    Bitboard unsafe[PIECE_TYPE_NB];
    unsafe_squares(pos, unsafe);
    Bitboard hanging = hanging_pieces(pos, unsafe[QUEEN]);
    for (int i = 0; i < p->list.size; i++) {
        Move move = p->list.moves[i];
        Square from = move_from(move), to = move_to(move);
        PieceType type = piece_type(pos->board[from]);
        int safer = (int)((unsafe[type] | hanging) >> from & 1) - (int)(unsafe[type] >> to & 1);
        p->scores[i] = quiet_history(p->searcher, move) + safer * SAFETY[type];
    }
    p->next = 0;
}

// Takes the move with the best score that is left; of equal moves the one generated first.
static Move list_take_best(MovePicker *p) {
    int best = p->next;
    for (int i = best + 1; i < p->list.size; i++)
        if (p->scores[i] > p->scores[best])
            best = i;
    Move move = p->list.moves[best];
    p->list.moves[best] = p->list.moves[p->next];
    p->scores[best] = p->scores[p->next];
    p->next++;
    return move;
}

static Move killer_move(Searcher *s, int i) {
    return searcher_frame(s)->killers[i];
}

static Move counter_move(Searcher *s) {
    const Frame *before = searcher_frame(s) - 1;
    if (before->move == MOVE_NONE)
        return MOVE_NONE;
    return s->history.counter[before->piece][move_to(before->move)];
}

void picker_init(MovePicker *p, Searcher *s, Move table_move) {
    p->searcher = s;
    p->stage = PICK_TABLE_MOVE;
    p->captures_only = p->skip_quiets = false;
    p->table_move = move_is_legal(&s->pos, table_move) ? table_move : MOVE_NONE;
    p->refutations[0] = killer_move(s, 0);
    p->refutations[1] = killer_move(s, 1);
    p->refutations[2] = counter_move(s);
    p->next = 0;
    p->bad.size = 0;
}

void picker_init_captures(MovePicker *p, Searcher *s, Move table_move) {
    p->searcher = s;
    p->stage = PICK_TABLE_MOVE;
    p->captures_only = p->skip_quiets = true;
    bool fits = move_is_legal(&s->pos, table_move) && !move_is_quiet(&s->pos, table_move);
    p->table_move = fits ? table_move : MOVE_NONE;
    p->next = 0;
    p->bad.size = 0;
}

static Move pick_capture(MovePicker *p) {
    while (p->next < p->list.size) {
        Move move = list_take_best(p);
        if (move == p->table_move)
            continue;
        if (see_at_least(&p->searcher->pos, move, 0))
            return move;
        p->bad.moves[p->bad.size++] = move;
    }
    p->next = 0;
    p->stage = p->captures_only ? PICK_DONE : PICK_REFUTATIONS;
    return MOVE_NONE;
}

static bool refutation_fits(const MovePicker *p, int i) {
    Move move = p->refutations[i];
    for (int j = 0; j < i; j++)
        if (p->refutations[j] == move)
            return false;
    const Position *pos = &p->searcher->pos;
    return move != MOVE_NONE && move != p->table_move && move_is_legal(pos, move) &&
           move_is_quiet(pos, move);
}

static Move pick_refutation(MovePicker *p) {
    while (!p->skip_quiets && p->next < REFUTATIONS) {
        int i = p->next++;
        if (refutation_fits(p, i))
            return p->refutations[i];
    }
    p->stage = PICK_GENERATE_QUIETS;
    return MOVE_NONE;
}

static Move pick_quiet(MovePicker *p) {
    while (!p->skip_quiets && p->next < p->list.size) {
        Move move = list_take_best(p);
        if (move != p->table_move && move != p->refutations[0] && move != p->refutations[1] &&
            move != p->refutations[2])
            return move;
    }
    p->next = 0;
    p->stage = PICK_BAD_CAPTURES;
    return MOVE_NONE;
}

static Move pick_bad_capture(MovePicker *p) {
    if (p->next < p->bad.size)
        return p->bad.moves[p->next++];
    p->stage = PICK_DONE;
    return MOVE_NONE;
}

// One step: returns a move, or MOVE_NONE after a change of the stage.
static Move pick_step(MovePicker *p) {
    switch (p->stage) {
    case PICK_TABLE_MOVE:
        p->stage = PICK_GENERATE_CAPTURES;
        return p->table_move;
    case PICK_GENERATE_CAPTURES:
        movegen_captures(&p->searcher->pos, &p->list);
        captures_score(p);
        p->stage = PICK_CAPTURES;
        return MOVE_NONE;
    case PICK_CAPTURES:
        return pick_capture(p);
    case PICK_REFUTATIONS:
        return pick_refutation(p);
    case PICK_GENERATE_QUIETS:
        p->stage = PICK_QUIETS;
        if (p->skip_quiets)
            return MOVE_NONE;
        movegen_quiets(&p->searcher->pos, &p->list);
        quiets_score(p);
        return MOVE_NONE;
    case PICK_QUIETS:
        return pick_quiet(p);
    default:
        return pick_bad_capture(p);
    }
}

Move picker_next(MovePicker *p) {
    while (p->stage != PICK_DONE) {
        Move move = pick_step(p);
        if (move != MOVE_NONE)
            return move;
    }
    return MOVE_NONE;
}

void tried_add(TriedMoves *tried, const Position *pos, Move move) {
    if (!move_is_quiet(pos, move)) {
        if (tried->capture_count < 32)
            tried->captures[tried->capture_count++] = move;
    } else if (tried->quiet_count < 64) {
        tried->quiets[tried->quiet_count++] = move;
    }
}

static void killer_learn(Searcher *s, Move move) {
    Move *killers = searcher_frame(s)->killers;
    if (killers[0] != move) {
        killers[1] = killers[0];
        killers[0] = move;
    }
}

static void counter_learn(Searcher *s, Move move) {
    const Frame *before = searcher_frame(s) - 1;
    if (before->move != MOVE_NONE)
        s->history.counter[before->piece][move_to(before->move)] = move;
}

static void quiet_learn(Searcher *s, Move move, int bonus) {
    Square from = move_from(move), to = move_to(move);
    Piece piece = s->pos.board[from];
    Frame *frame = searcher_frame(s);
    history_update(&s->history.quiet[s->pos.side][from][to], bonus);
    history_update(pawn_slot(s, piece, to), bonus);
    for (int i = 0; i < CONTINUATION_COUNT; i++)
        history_update(reply_slot(frame - CONTINUATIONS[i], piece, to), bonus);
}

void ordering_learn(Searcher *s, Move best, int depth, const TriedMoves *tried) {
    int bonus = history_bonus(depth);
    if (move_is_quiet(&s->pos, best)) {
        killer_learn(s, best);
        counter_learn(s, best);
        quiet_learn(s, best, bonus);
        for (int i = 0; i < tried->quiet_count; i++)
            quiet_learn(s, tried->quiets[i], -bonus);
    } else {
        history_update(capture_slot(s, best), bonus);
    }
    for (int i = 0; i < tried->capture_count; i++)
        history_update(capture_slot(s, tried->captures[i]), -bonus);
}

// No reply to the opponent's move was good enough, so it is a good move after the moves before it
// (Stockfish's bonus for the prior counter move).
void ordering_learn_failed_low(Searcher *s, int depth) {
    Frame *before = searcher_frame(s) - 1;
    if (s->ply == 0 || before->move == MOVE_NONE || !before->is_quiet)
        return;
    Square from = move_from(before->move), to = move_to(before->move);
    int bonus = history_bonus(depth) / 2;
    history_update(&s->history.quiet[color_flip(s->pos.side)][from][to], bonus);
    for (int i = 0; i < CONTINUATION_COUNT; i++)
        history_update(reply_slot(before - CONTINUATIONS[i], before->piece, to), bonus);
}
