// The places of the lines, bars and labels of a drawing: geometry of SVG pictures, made from the
// data of a document and given to templates as another document. Pure; the markup is the templates'
// and the colours are the style sheet's.
//
// A chart: {"empty", "plot": {left, top, right, bottom}, "xticks": [{x, label}],
// "yticks": [{y, label, zero}], "rights": [{y, label}], "bounds": [{y, label, kind}],
// "line": "x,y x,y …", "band": the same or ""}. The view box is CHART_WIDTH × CHART_HEIGHT.
#pragma once

#include <jansson.h>

enum { CHART_WIDTH = 480, CHART_HEIGHT = 250 };

// LLR against games with the bounds. `history` from doc_history, `stats` from statistics_document.
json_t *chart_llr(const json_t *history, const json_t *stats);
// Elo with its error band against time; the right axis tells the score of the same height.
json_t *chart_elo(const json_t *history);
// Pairs by their outcome: {"bars": [{x, width, y, height, middle, label, name, points, share}]}.
json_t *chart_pairs(const json_t *stats);
// The place of the LLR between the bounds, in a view box of 200 × 8 with zero in the middle:
// {"x", "width", "side"}; null for a test of fixed length.
json_t *chart_progress(const json_t *stats);

// Round numbers that divide from … to into at most `count` parts: the step, and how many decimals
// its multiples need.
double chart_step(double from, double to, int count, int *decimals);
