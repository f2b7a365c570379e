"""Text as the measures read it: markup, sentences, words, numbers, dates; no golden set, no run."""
