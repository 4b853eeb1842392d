// Handicap 7.
int handicap_7(void) {
    return 1;
}
