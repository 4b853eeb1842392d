// Handicap 2.
int handicap_2(void) {
    return 1;
}
