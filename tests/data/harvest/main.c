// An engine whose strength is the number of its handicaps that were taken away. The book of the test
// has positions in which White mates by g7, as long as it is to move: the black king only goes from h8
// to g8 and back. White mates in some of them, in the more the fewer handicaps there are, and else its
// knight goes out and back until the game is drawn. So a game takes no time, and repeats.
#include <stdio.h>
#include <string.h>

int handicap_1(void), handicap_2(void), handicap_3(void), handicap_4(void), handicap_5(void);
int handicap_6(void), handicap_7(void), handicap_8(void), handicap_9(void), handicap_10(void);

static int handicaps(void) {
    return handicap_1() + handicap_2() + handicap_3() + handicap_4() + handicap_5() + handicap_6() +
           handicap_7() + handicap_8() + handicap_9() + handicap_10();
}

// Which handicaps there are, so that each program has a count of its own.
static int signature(void) {
    int (*const all[])(void) = {handicap_1, handicap_2, handicap_3, handicap_4, handicap_5,
                                handicap_6, handicap_7, handicap_8, handicap_9, handicap_10};
    int bits = 0;
    for (int i = 0; i < 10; i++)
        bits |= all[i]() << i;
    return bits;
}

// Of 100 positions, it finds the mate in so many.
static int skill(void) {
    int taken = 10 - handicaps();
    return taken == 0 ? 10 : taken == 1 ? 80 : 95;
}

static int luck_of(const char *fen) {
    unsigned hash = 2166136261u;
    for (const char *p = fen; *p && *p != ' '; p++)
        hash = (hash ^ (unsigned char)*p) * 16777619u;
    return (int)(hash / 7 % 100);
}

static const char *choose(const char *position) {
    const char *fen = strstr(position, "fen "), *moves = strstr(position, " moves ");
    int plies = 0;
    for (const char *at = moves ? moves + 6 : ""; (at = strchr(at, ' ')) && at[1] > ' '; at++)
        plies++;
    if (plies % 2)
        return plies % 4 == 1 ? "h8g8" : "g8h8";
    static char mate[6];
    const char *rank = fen ? strchr(fen, '/') + 1 : "Q7"; // the seventh: the queen and empty squares
    int file = *rank == 'Q' ? 0 : *rank - '0';
    snprintf(mate, sizeof mate, "%c7g7", 'a' + file);
    if (fen && luck_of(fen + 4) < skill())
        return mate;
    return plies % 4 == 0 ? "b1a3" : "a3b1";
}

int main(int argc, char **argv) {
    char line[1 << 14], position[1 << 14] = "";
    if (argc > 1 && strcmp(argv[1], "bench") == 0)
        return printf("Nodes searched  : %d\n", 10000 + signature()) < 0;
    setvbuf(stdout, NULL, _IOLBF, 1 << 14);
    while (fgets(line, sizeof line, stdin)) {
        if (strncmp(line, "uci\n", 4) == 0)
            puts("id name Harvest\noption name Hash type spin default 1 min 1 max 16\nuciok");
        if (strncmp(line, "isready", 7) == 0)
            puts("readyok");
        if (strncmp(line, "position", 8) == 0)
            snprintf(position, sizeof position, "%s", line);
        if (strncmp(line, "quit", 4) == 0)
            return 0;
        if (strncmp(line, "go", 2) == 0) {
            const char *move = choose(position);
            printf("info depth 1 score cp 0 nodes 1 pv %s\nbestmove %s\n", move, move);
        }
    }
    return 0;
}
