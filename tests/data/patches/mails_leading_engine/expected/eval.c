int eval;
