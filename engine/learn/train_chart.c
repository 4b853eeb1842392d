// The table and the chart of a run. The chart needs no script and no font. It can be read without
// colour, because the lines have different dashes and their names beside them. It has light and
// dark colours; the browser's setting chooses.
#include "learn/train_chart.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// A text in a growing buffer. The stream's buffer becomes the result.
typedef struct Text {
    FILE *out;
    char *bytes;
    size_t size;
} Text;

static void out_of_memory(void) {
    fprintf(stderr, "anvil: out of memory\n");
    exit(EXIT_FAILURE);
}
static void text_begin(Text *text) {
    *text = (Text){0};
    text->out = open_memstream(&text->bytes, &text->size);
    if (!text->out)
        out_of_memory();
}
static char *text_end(Text *text, size_t *size) {
    if (fclose(text->out) != 0)
        out_of_memory();
    *size = text->size;
    return text->bytes;
}

char *history_csv(const TrainHistory *history, size_t *size) {
    Text text;
    text_begin(&text);
    fputs("epoch,steps,rate,training,validation,constant,classical,positions_per_second\n",
          text.out);
    for (int64_t i = 0; i < history->count; i++) {
        const TrainRow *row = &history->rows[i];
        fprintf(text.out, "%" PRId64 ",%" PRId64 ",%.9f,%.9f,%.9f,%.9f,%.9f,%.0f\n", row->epoch,
                row->steps, row->rate, row->training, row->validation, history->constant,
                history->classical, row->speed);
    }
    return text_end(&text, size);
}

// ---- the drawing -------------------------------------------------------------------------------

enum {
    WIDTH = 760,
    HEIGHT = 440,
    PLOT_LEFT = 70,
    PLOT_RIGHT = 150,
    PLOT_TOP = 50,
    PLOT_BOTTOM = 50
};

// The loss on a logarithmic axis, so that the first epoch does not flatten all others.
typedef struct Plot {
    double low, high; // losses at the lower and the upper edge
    int64_t epochs;
} Plot;

static double frame_x(const Plot *frame, double epoch) {
    double span = frame->epochs > 1 ? (double)(frame->epochs - 1) : 1;
    return PLOT_LEFT + (epoch - 1) / span * (WIDTH - PLOT_LEFT - PLOT_RIGHT);
}
static double frame_y(const Plot *frame, double loss) {
    double share = log(loss / frame->low) / log(frame->high / frame->low);
    return HEIGHT - PLOT_BOTTOM - share * (HEIGHT - PLOT_TOP - PLOT_BOTTOM);
}

static void frame_include(Plot *frame, double loss) {
    if (loss > 0 && loss < frame->low)
        frame->low = loss;
    if (loss > frame->high)
        frame->high = loss;
}

static Plot frame_of(const TrainHistory *history) {
    Plot frame = {.low = 1, .high = 1e-6, .epochs = history->count};
    frame_include(&frame, history->constant);
    frame_include(&frame, history->classical);
    for (int64_t i = 0; i < history->count; i++) {
        frame_include(&frame, history->rows[i].training);
        frame_include(&frame, history->rows[i].validation);
    }
    frame.low *= 0.95;
    frame.high *= 1.05;
    return frame;
}

static void draw_head(FILE *out) {
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\" role=\"img\" aria-label=\"Loss by epoch\">\n"
            "<style>\n"
            "svg { background: #ffffff; color: #24292f; font: 13px system-ui, sans-serif; "
            "font-variant-numeric: tabular-nums }\n"
            "text { fill: currentColor } .grid { stroke: currentColor; stroke-opacity: .15 }\n"
            "path, .level { fill: none; stroke-width: 2 } .training { stroke: #8a6100 } "
            ".validation { stroke: #0b5cad } .level { stroke: currentColor; stroke-opacity: .6 }\n"
            "@media (prefers-color-scheme: dark) { svg { background: #14181d; color: #d6dbe1 } "
            ".training { stroke: #e0b04a } .validation { stroke: #6db3f2 } }\n"
            "</style>\n"
            "<text x=\"%d\" y=\"26\" font-size=\"15\" font-weight=\"600\">Loss by epoch</text>\n",
            WIDTH, HEIGHT, WIDTH, HEIGHT, PLOT_LEFT);
}

static void draw_loss_axis(FILE *out, const Plot *frame) {
    static const double steps[] = {1, 1.5, 2, 3, 5, 7};
    for (double decade = 1e-7; decade < 10; decade *= 10)
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            double loss = decade * steps[i], y = frame_y(frame, loss);
            if (loss < frame->low || loss > frame->high)
                continue;
            fprintf(out,
                    "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
                    "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n",
                    PLOT_LEFT, WIDTH - PLOT_RIGHT, y, y, PLOT_LEFT - 8, y + 4, loss);
        }
    fprintf(out,
            "<text transform=\"translate(18 %d) rotate(-90)\" text-anchor=\"middle\">mean squared "
            "error</text>\n",
            (HEIGHT + PLOT_TOP - PLOT_BOTTOM) / 2);
}

static void draw_epoch_axis(FILE *out, const Plot *frame) {
    int64_t every = 1 + (frame->epochs - 1) / 10;
    for (int64_t epoch = 1; epoch <= frame->epochs; epoch += every)
        fprintf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%" PRId64 "</text>\n",
                frame_x(frame, (double)epoch), HEIGHT - PLOT_BOTTOM + 20, epoch);
    fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">epoch</text>\n",
            (WIDTH + PLOT_LEFT - PLOT_RIGHT) / 2, HEIGHT - 10);
}

static void draw_curve(FILE *out, const Plot *frame, const TrainHistory *history, const char *name,
                       const char *dashes, bool is_training) {
    fprintf(out, "<path class=\"%s\" stroke-dasharray=\"%s\" d=\"", name, dashes);
    for (int64_t i = 0; i < history->count; i++) {
        const TrainRow *row = &history->rows[i];
        double loss = is_training ? row->training : row->validation;
        fprintf(out, "%c%.1f %.1f", i ? 'L' : 'M', frame_x(frame, (double)row->epoch),
                frame_y(frame, loss > frame->low ? loss : frame->low));
    }
    // A single epoch is drawn as a point: a line of length 0 with a round cap.
    fputs(history->count == 1 ? "h0\" stroke-linecap=\"round\"/>\n" : "\"/>\n", out);
}

static void draw_level(FILE *out, const Plot *frame, double loss, const char *dashes) {
    if (loss > 0)
        fprintf(out,
                "<line class=\"level\" stroke-dasharray=\"%s\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" "
                "y2=\"%.1f\"/>\n",
                dashes, PLOT_LEFT, WIDTH - PLOT_RIGHT, frame_y(frame, loss), frame_y(frame, loss));
}

typedef struct Label {
    const char *name;
    double loss;
} Label;

// A name stands at the end of its line. Names are placed from the top down, and are moved if they
// would overlap.
static void draw_labels(FILE *out, const Plot *frame, const TrainHistory *history) {
    enum { LABELS = 4, LINE = 30 };
    const TrainRow *last = &history->rows[history->count - 1];
    Label labels[LABELS] = {{"training", last->training},
                            {"validation", last->validation},
                            {"classical", history->classical},
                            {"constant", history->constant}};
    for (int i = 1; i < LABELS; i++)
        for (int j = i; j > 0 && labels[j].loss > labels[j - 1].loss; j--) {
            Label swapped = labels[j];
            labels[j] = labels[j - 1];
            labels[j - 1] = swapped;
        }
    double least = PLOT_TOP, most = HEIGHT - PLOT_BOTTOM - (LABELS - 1) * LINE;
    for (int i = 0; i < LABELS; i++, most += LINE) {
        double y = labels[i].loss > 0 ? frame_y(frame, labels[i].loss) + 4 : most;
        y = y < most ? y : most;
        y = y > least ? y : least;
        fprintf(out,
                "<text x=\"%d\" y=\"%.1f\">%s</text><text x=\"%d\" y=\"%.1f\" "
                "fill-opacity=\".7\" font-size=\"12\">%.5f</text>\n",
                WIDTH - PLOT_RIGHT + 10, y, labels[i].name, WIDTH - PLOT_RIGHT + 10, y + 14,
                labels[i].loss);
        least = y + LINE;
    }
}

char *history_svg(const TrainHistory *history, size_t *size) {
    Text text;
    text_begin(&text);
    draw_head(text.out);
    if (history->count > 0) {
        Plot frame = frame_of(history);
        draw_loss_axis(text.out, &frame);
        draw_epoch_axis(text.out, &frame);
        draw_level(text.out, &frame, history->constant, "2 4");
        draw_level(text.out, &frame, history->classical, "10 4 2 4");
        draw_curve(text.out, &frame, history, "training", "6 3", true);
        draw_curve(text.out, &frame, history, "validation", "none", false);
        draw_labels(text.out, &frame, history);
    }
    fputs("</svg>\n", text.out);
    return text_end(&text, size);
}
