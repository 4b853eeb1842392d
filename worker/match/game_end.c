// See game_end.h.
#include "worker/match/game_end.h"

#include <stdio.h>

const char *const color_name[COLOR_NB] = {"White", "Black"};

static GameResult win_of(Color side) {
    return side == WHITE ? RESULT_WHITE_WINS : RESULT_BLACK_WINS;
}

static void end_game(GameRecord *record, GameEndKind kind, GameResult result) {
    record->kind = kind;
    record->result = result;
}

void end_aborted(GameRecord *record) {
    end_game(record, GAME_END_ABORTED, RESULT_NONE);
    snprintf(record->reason, sizeof record->reason, "The match was stopped");
}

void end_open(GameRecord *record, int plies) {
    end_game(record, GAME_END_ADJUDICATION, RESULT_NONE);
    snprintf(record->reason, sizeof record->reason, "No end within %d plies", plies);
}

void end_by_rule(GameRecord *record, GameEnd end) {
    static const char *const draws[] = {
        [END_STALEMATE] = "Draw by stalemate",
        [END_THREEFOLD] = "Draw by 3-fold repetition",
        [END_FIFTY_MOVES] = "Draw by fifty moves rule",
        [END_INSUFFICIENT_MATERIAL] = "Draw by insufficient mating material",
        [END_TOO_LONG] = "Draw by length of the game",
    };
    record->rule = end;
    end_game(record, GAME_END_RULE, game_result(&record->game, end));
    if (end == END_CHECKMATE)
        snprintf(record->reason, sizeof record->reason, "%s mates",
                 color_name[color_flip(record->game.now.side)]);
    else
        snprintf(record->reason, sizeof record->reason, "%s", draws[end]);
}

Decision decide(Adjudicator *adjudicator, const GameRecord *record, Color mover, int32_t score) {
    const Position *now = &record->game.now;
    return adjudicate(adjudicator,
                      &(AdjudicatedMove){.by_white = mover == WHITE,
                                         .resets = now->rule50 == 0,
                                         .has_score = score != UCI_SCORE_NONE,
                                         .mates = uci_score_is_mate(score),
                                         .score = score,
                                         .number = now->fullmove - 1,
                                         .plies = record->game.plies - record->opening_plies});
}

void end_by_decision(GameRecord *record, Decision decision, Color mover) {
    if (decision == DECISION_RESIGNS) {
        end_game(record, GAME_END_ADJUDICATION, win_of(color_flip(mover)));
        snprintf(record->reason, sizeof record->reason, "%s wins by adjudication",
                 color_name[color_flip(mover)]);
        return;
    }
    end_game(record, GAME_END_ADJUDICATION, RESULT_DRAW);
    snprintf(record->reason, sizeof record->reason, "Draw by adjudication%s",
             decision == DECISION_TOO_LONG ? ": maximum length" : "");
}

void end_by_fault(GameRecord *record, Color side, GameEndKind kind, const char *what,
                  const char *excess) {
    record->culprit = player_of(record, side);
    end_game(record, kind, win_of(color_flip(side)));
    snprintf(record->reason, sizeof record->reason, excess ? "%s%s (it %s)" : "%s%s",
             color_name[side], what, excess ? excess : "");
}

void end_by_flag(GameRecord *record, Color side, const char *excess) {
    end_by_fault(record, side, GAME_END_TIME, " loses on time", excess);
    if (position_can_win(&record->game.now, color_flip(side)))
        return;
    record->result = RESULT_DRAW;
    snprintf(record->reason, sizeof record->reason, "Draw: %s ran out of time, %s cannot mate",
             color_name[side], color_name[color_flip(side)]);
}
