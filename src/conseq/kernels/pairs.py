"""How counts of two names, and their places, go together in labelled sequences.

    counts[N,K] ─→ histograms of sums and differences, [K,K,·], for all pairs at once
    first, last places [N,K], tokens' names ─→ how often one name has another before or after it, [K,K]

The work grows with the names that appear in a sequence times all names, not with all pairs.
Axes: N sequences, T tokens, K names, B the highest bound that matters, L levels.
"""

from __future__ import annotations

from conseq.kernels.compiled import Array, kernel


@kernel
def combine(counts: Array, sums: Array, differences: Array) -> None:
    """sums[i,j,s], i < j: the sequences with count i + count j = s, cut at B+1;
    differences[i,j,d+B+1]: those with count i − count j = d, cut at ±(B+1).  sums is [K,K,B+2]."""
    n_sequences, size = counts.shape
    most = sums.shape[2] - 1
    for n in range(n_sequences):
        for a in range(size):
            if counts[n, a] == 0:
                continue
            for b in range(size):
                if b == a or (counts[n, b] > 0 and b < a):
                    continue
                i, j = (a, b) if a < b else (b, a)
                sums[i, j, min(most, counts[n, i] + counts[n, j])] += 1
                difference = counts[n, i] - counts[n, j]
                differences[i, j, most + max(-most, min(most, difference))] += 1
    for i in range(size):
        for j in range(i + 1, size):
            neither = n_sequences
            for s in range(1, most + 1):
                neither -= sums[i, j, s]
            sums[i, j, 0] = neither
            differences[i, j, most] += neither


@kernel
def orders(
    names: Array, bounds: Array, offsets: Array, first: Array, last: Array, earlier: Array, later: Array
) -> None:
    """earlier[a,b]: the tokens in a that have a b before them; later[a,b]: those with a b at or after them.

    Token t is in names[bounds[t]:bounds[t+1]]; first and last [N,K] are places in the whole, −1 for none.
    """
    for n in range(len(offsets) - 1):
        for t in range(offsets[n], offsets[n + 1]):
            for k in range(bounds[t], bounds[t + 1]):
                a = names[k]
                for b in range(first.shape[1]):
                    if first[n, b] >= 0:
                        earlier[a, b] += first[n, b] < t
                        later[a, b] += last[n, b] >= t
