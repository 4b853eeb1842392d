// The position in which a game ended, as a page draws it: eight rows of squares with men as
// characters. See page.h.
#include <string.h>

#include "engine/rules/pgn.h"
#include "server/common/str.h"
#include "server/pages/page.h"

// As in print: white men are drawn in outline, black ones filled, both in ink.
static const char *figure_of(Piece piece) {
    static const char *const figures[COLOR_NB][PIECE_TYPE_NB] = {
        {"\xe2\x99\x99", "\xe2\x99\x98", "\xe2\x99\x97", "\xe2\x99\x96", "\xe2\x99\x95",
         "\xe2\x99\x94"},
        {"\xe2\x99\x9f", "\xe2\x99\x9e", "\xe2\x99\x9d", "\xe2\x99\x9c", "\xe2\x99\x9b",
         "\xe2\x99\x9a"},
    };
    return figures[piece_color(piece)][piece_type(piece)];
}

static json_t *square_json(const Position *pos, int file, int rank, const Move *last) {
    Square square = (Square)(rank * 8 + file);
    Piece piece = pos->board[square];
    json_t *json = json_pack("{s:b}", "dark", (file + rank) % 2 == 0);
    if (last && (square == move_from(*last) || square == move_to(*last)))
        json_object_set_new(json, "last", json_true());
    if (piece != NO_PIECE)
        json_object_set_new(json, "figure", json_string(figure_of(piece)));
    return json;
}

static json_t *rows_json(const Position *pos, const Move *last) {
    json_t *rows = json_array();
    for (int rank = 7; rank >= 0; rank--) {
        json_t *squares = json_array();
        for (int file = 0; file < 8; file++)
            json_array_append_new(squares, square_json(pos, file, rank, last));
        json_array_append_new(rows, json_pack("{s:i, s:o}", "rank", rank + 1, "squares", squares));
    }
    return rows;
}

json_t *page_board(const char *pgn) {
    PgnReader reader;
    Refusal why;
    char fen[FEN_MAX];
    PgnGame *game scope(free_ptr) = xmalloc(sizeof *game);
    pgn_reader_init(&reader, pgn, strlen(pgn));
    if (pgn_read(&reader, game, &why) != PGN_GAME)
        return json_null();
    const Game *played = &game->game;
    const Position *pos = &played->now;
    const Move *last = played->plies ? &played->moves[played->plies - 1] : NULL;
    return json_pack("{s:o, s:s, s:s, s:i}", "rows", rows_json(pos, last), "fen",
                     position_to_fen(pos, fen), "turn", pos->side == WHITE ? "White" : "Black",
                     "plies", played->plies);
}
