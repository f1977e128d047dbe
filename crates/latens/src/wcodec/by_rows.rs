//! What is done to each row of symbols with the same row.

use latens_kernels::dispatch::Present;

/// Symbols that one loop takes, at least: one over fewer is all beginning and end.
const LOOP: usize = 1 << 10;

/// Puts `of(symbol, other)` in place of each symbol of `data`, `other` being that of its column in `row`.
/// `of` is to be inlined always and to own what it knows: the loop becomes one of vectors only where no
/// symbol can be written over that.
pub(crate) fn by_rows(data: &mut [u8], row: &[u8], of: impl Fn(u8, u8) -> u8) {
    let rows = row.repeat((LOOP / row.len().max(1)).max(1));
    Present::in_use().call(
        #[inline(always)]
        move || {
            for data in data.chunks_mut(rows.len().max(1)) {
                for (symbol, &other) in data.iter_mut().zip(&rows) {
                    *symbol = of(*symbol, other);
                }
            }
        },
    );
}
