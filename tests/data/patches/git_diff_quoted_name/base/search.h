int search(int depth);
