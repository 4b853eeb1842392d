// The program `sprt`: the statistics for other programs, with one JSON request and one JSON answer
// per line. Answers are written as soon as no further request is waiting, so that a program at the
// other end of a pipe can send one request at a time.
#include "sprt/json_api.h"
#include "sprt/width_table.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char HELP[] =
    "usage: sprt --json < requests > answers\n"
    "       sprt width [OPTIONS] > table\n"
    "\n"
    "--json reads one JSON request per line and writes one JSON answer per line. Counts are\n"
    "ordered from the worst to the best result of the new engine: five counts are pairs (LL, LD,\n"
    "DD or WL, DW, WW), three are games (L, D, W). MODEL is \"normalized\" or \"logistic\". BOUNDS "
    "stands for\n"
    "\"model\":MODEL,\"elo0\":0,\"elo1\":2,\"alpha\":0.05,\"beta\":0.05\n"
    "\n"
    "  {\"op\":\"llr\",\"model\":MODEL,\"elo0\":0,\"elo1\":2,\"counts\":[…]}\n"
    "      log-likelihood ratio of elo1 against elo0\n"
    "  {\"op\":\"sprt_elo\",BOUNDS,\"counts\":[…]}\n"
    "      sequential estimate with its 95 % interval, and likelihood of superiority\n"
    "  {\"op\":\"elo\",\"counts\":[…]}\n"
    "      Elo and normalized Elo after a fixed number of games, with errors (half the width of\n"
    "      the 95 % interval), pair ratio, draw ratio\n"
    "  {\"op\":\"run\",BOUNDS,\"batch\":16,\"outcomes\":\"0123…\"}\n"
    "      runs a test on pair results 0 to 4: state, pairs and LLR when it stops\n"
    "  {\"op\":\"chi2\",\"rows\":[[wins,losses,draws],…]}\n"
    "      compares the pair outcomes of workers; null for a worker with too few results\n"
    "  {\"op\":\"expect\",BOUNDS,\"draw_ratio\":0.49,\"bias\":191,\"elo\":1}\n"
    "      probability to pass and mean number of games; bias and elo are logistic Elo\n"
    "  {\"op\":\"plan\",BOUNDS,\"draw_share\":0.5,\"elo\":1,\"pairs_max\":400000}\n"
    "      probabilities of the ends of a test of at most so many pairs, and mean number of "
    "pairs;\n"
    "      elo is in the unit of MODEL, draw_share the share of pairs with the middle outcome\n"
    "  {\"op\":\"width\",\"unit\":MODEL,\"x\":3,\"counts\":[…]}\n"
    "      estimate of pairs in this unit of Elo, its 95 % interval, half its width, and whether "
    "a\n"
    "      test that runs until the difference is known to ± x stops here\n"
    "  {\"op\":\"width_pairs\",\"unit\":MODEL,\"x\":3,\"draw_share\":0.6}\n"
    "      pairs that such a test takes between equal engines; draw_share is the share of pairs\n"
    "      with the middle outcome\n"
    "\n"
    "The answer to a bad line, or to a line of more than 64 KiB, is {\"error\":\"…\"}.\n"
    "Infinities are null.\n"
    "\n"
    "width simulates tests that stop at ± x Elo and writes a JSON line for each combination: how\n"
    "often the interval at the end covers the true difference, and the mean number of pairs.\n"
    "\n"
    "  --unit UNIT    logistic or normalized; otherwise both\n"
    "  --x X          0.1 to 100 Elo; otherwise 1, 3, 10\n"
    "  --draws SHARE  of the middle outcome; otherwise 0.3, 0.6, 0.8, 0.9, 0.95, 0.98\n"
    "  --nelo ELO     the true difference in normalized Elo; otherwise 0, 20\n"
    "  --batch PAIRS  1 to 4095; otherwise 16, 32\n"
    "  --runs N       simulated tests for each line (10000)\n"
    "  --seed N       of the random numbers (1)\n"
    "\n"
    "  --help   this text\n";

typedef struct Input {
    char line[JSON_API_LINE_MAX + 1];
    size_t length;
    bool overlong; // the current line is too long; the rest of it is discarded
} Input;

static void answer_line(Input *input) {
    char *text = input->overlong ? json_api_error("line: longer than 64 KiB")
                                 : json_api_answer(input->line, input->length);
    puts(text);
    free(text);
    input->length = 0;
    input->overlong = false;
}

static void take(Input *input, const char *bytes, size_t size) {
    if (size > JSON_API_LINE_MAX - input->length) {
        input->overlong = true;
        return;
    }
    memcpy(input->line + input->length, bytes, size);
    input->length += size;
}

static void take_lines(Input *input, const char *bytes, size_t size) {
    const char *end = bytes + size;
    for (const char *newline; (newline = memchr(bytes, '\n', (size_t)(end - bytes)));
         bytes = newline + 1) {
        take(input, bytes, (size_t)(newline - bytes));
        answer_line(input);
    }
    take(input, bytes, (size_t)(end - bytes));
}

static int serve_json(void) {
    static Input input;
    char chunk[16 * 1024];
    ssize_t got;
    while ((got = read(STDIN_FILENO, chunk, sizeof chunk)) > 0 || (got < 0 && errno == EINTR)) {
        if (got < 0)
            continue;
        take_lines(&input, chunk, (size_t)got);
        if (fflush(stdout) != 0)
            break;
    }
    if (input.length > 0 || input.overlong) // a last line without its newline
        answer_line(&input);
    if (got < 0 || fflush(stdout) != 0 || ferror(stdout)) {
        perror("sprt");
        return 1;
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc == 2 && strcmp(argv[1], "--json") == 0)
        return serve_json();
    if (argc >= 2 && strcmp(argv[1], "width") == 0)
        return width_table(argc - 2, argv + 2);
    bool asked = argc == 2 && strcmp(argv[1], "--help") == 0;
    fputs(HELP, asked ? stdout : stderr);
    return asked ? 0 : 2;
}
