"""Which two symbols are a pair, and in which order pairs are coded: PAIRS alone, with ORDER, with STACKED. Written from
specs/wcodec.md alone (chapter 7)."""
import numpy as np

from pco_reader import need

RUN = 32  # columns that ORDER sorts among themselves


def sorted_by(levels):
    """Numbers of the levels, the least first; of equal ones the first one first."""
    return np.argsort(levels, kind="stable")


def order_of_columns(levels):
    """The order of ORDER."""
    runs = [at + sorted_by(levels[at:at + RUN]) for at in range(0, len(levels), RUN)]
    return np.concatenate(runs) if runs else np.zeros(0, np.int64)


def spans_of(cols, widths):
    """First column and end of the spans of STACKED, of sources whose blocks have so many columns."""
    firsts = sorted({0}.union(*(range(0, cols, width) for width in widths))) if cols else []
    return list(zip(firsts, firsts[1:] + [cols]))


def stacked_rows(sums):
    """Numbers of the first and of the second rows of pairs; the last one of an odd number is twice there."""
    rows = sorted_by(sums)
    rows = np.append(rows, rows[-1:]) if len(rows) % 2 else rows
    return rows[::2], rows[1::2]


class Span:
    """What STACKED makes of a span of a group: its columns and its pairs of rows, in the order in which they are
    coded."""

    def __init__(self, first, col_levels, sums):
        self.cols = first + sorted_by(col_levels)
        self.levels = np.sort(col_levels)
        self.rows, self.others = stacked_rows(sums)
        # Rounded down where they are negative too.
        self.sums = sums[self.rows] + sums[self.others] >> 1

    def totals(self):
        """Of the pairs of a column, and column by column."""
        return (self.levels[:, None] + self.sums).reshape(-1)

    def places(self, cols_in_all):
        """Where in the group the first and the second symbols of pairs are, row by row."""
        return [(rows * cols_in_all + self.cols[:, None]).reshape(-1) for rows in (self.rows, self.others)]


def put_apart(pairs, first, second, bits, count):
    """The symbols, or residuals, of pairs, which belong to these places."""
    low, high = pairs & 15, pairs >> 4
    need((np.maximum(low, high) < 1 << bits).all(), "pairs of more than their bits")
    out = np.zeros(count, np.int64)
    out[first] = low
    out[second] = high
    need((out[first] == low).all(), "a row that is paired with itself, and its halves differ")
    return out
