// Handicaps 9 and 10.
int handicap_9(void) {
    return 1;
}

// Far enough from the other one, so that git merges changes of both.
//
//
//
int handicap_10(void) {
    return 1;
}
