// Handicap 5.
int handicap_5(void) {
    return 1;
}
