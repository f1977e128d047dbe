//! A trend and what numbers are above it, as the two latents of IntMult.
//!
//! Numbers that scatter about something that moves slowly, such as events nearly in the order of
//! their times, are dear as differences: each that is off costs twice, there and back. IntMult is a
//! sum of two variables, and only the first needs to have differences: here it is the trend, in
//! steps of cells, and the second is how far the number lies above it. Products are mod 2^k, so that
//! a base which has a small multiple (2 or 3 or a little more) that is the size of a cell mod 2^k
//! moves the trend by cells, and is yet larger than all remainders, as remainders must be.

mod path;

use crate::number::Latent;
use crate::pco::mode::int_mult;

/// log2 of the part of all values that a cell is, at least: remainders have room below the base.
const CELL_LOG: u32 = 6;
/// Bases are no less than this part of all values, as a log2: no other base is.
const BASE_LOG: u32 = 2;
/// Multiples of bases that may be a cell.
const MULTIPLES: [u64; 11] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31];

/// Numbers by which cells are chosen, and those that are glanced at.
const STRETCH: usize = 1 << 13;
const GLANCE: usize = 1 << 10;
/// The part of the differences between neighbours that point either way, at least, where numbers scatter.
const SCATTER: usize = 8;
/// Numbers that scatter are hardly further apart a few numbers on than from one to the next; those of a
/// walk are twice as far after four. By how much further they may be, in halves.
const LAG: usize = 4;
const MOST_FURTHER: u128 = 3;
/// Cells that three quarters of the differences between neighbours have at most.
const CELLS_OF_STEPS: std::ops::Range<u64> = 1..4;
/// The part of the bits of another encoding that a trend may take on the stretch.
const PROMISING: f64 = 0.99;

/// The base by which a trend in cells of this size moves, for latents of so many bits, and by how much
/// of it a cell is a step.
fn base_in(bits: u32, cell: u64) -> Option<(u64, u64)> {
    if cell == 0 || cell >> (bits - CELL_LOG) != 0 {
        return None;
    }
    let of = |multiple: u64| {
        // base · multiple = cell + carry · 2^k, as a whole number.
        let all = (0..multiple).map(|carry| u128::from(cell) + (u128::from(carry) << bits));
        let whole = all.filter(|all| all % u128::from(multiple) == 0);
        #[expect(clippy::cast_possible_truncation, reason = "the multiple is no less than 2")]
        let bases = whole.map(|all| (all / u128::from(multiple)) as u64);
        let base = bases.max()?;
        is_base(bits, base).then_some((base, multiple))
    };
    MULTIPLES.into_iter().find_map(of)
}

fn base_of<L: Latent>(cell: L) -> Option<(L, L)> {
    let (base, multiple) = base_in(L::BITS, cell.to_u64())?;
    Some((L::truncate(base), L::truncate(multiple)))
}

fn is_base(bits: u32, base: u64) -> bool {
    base >> (bits - BASE_LOG) != 0
}

/// What is wrong with cells of this size for latents of so many bits.
pub(crate) fn not_a_cell(bits: u32, cell: u64) -> Option<String> {
    let most = (1u64 << (bits - CELL_LOG)) - 1;
    base_in(bits, cell).is_none().then(|| match cell {
        cell if (1..=most).contains(&cell) => format!("no base moves a trend by {cell}"),
        _ => format!("trend@{cell}: cells of {bits} bits are 1 to {most}"),
    })
}

/// The cell of a trend that has this base, if it may be one's.
pub(crate) fn cell_of<L: Latent>(base: L) -> Option<L> {
    if !is_base(L::BITS, base.to_u64()) {
        return None;
    }
    let cells = MULTIPLES.map(|multiple| base.mul(L::truncate(multiple)));
    cells.into_iter().filter(|&cell| base_of(cell).is_some_and(|of| of.0 == base)).min()
}

/// The two variables of numbers about a trend, with IntMult's base.
pub(crate) struct Split<L> {
    pub(crate) base: L,
    pub(crate) trend: Vec<L>,
    pub(crate) above: Vec<L>,
}

/// Splits ordered latents; `None` where cells are too wide.
pub(crate) fn split<L: Latent>(latents: Vec<L>, cell: L) -> Option<Split<L>> {
    let (base, multiple) = base_of(cell)?;
    let (mut trend, mut above) = int_mult::split(latents, cell);
    let path = path::find(&steps(&trend));
    for ((x, rest), &cells) in trend.iter_mut().zip(&mut above).zip(&path.above) {
        let cells = L::truncate(cells.into());
        *x = x.sub(cells).mul(multiple);
        *rest = rest.add(cells.mul(cell));
    }
    Some(Split { base, trend, above })
}

/// From each to the next.
#[inline(never)]
fn steps<L: Latent>(cells: &[L]) -> Vec<i8> {
    let far = L::truncate(path::FAR.unsigned_abs().into());
    #[expect(clippy::cast_possible_truncation, reason = "up to FAR")]
    let step = |a: L, b: L| {
        let step = |a: L, b: L| b.sub(a).min(far).to_u64() as i8;
        if a <= b { step(a, b) } else { -step(b, a) }
    };
    let mut before = cells.first().copied().unwrap_or(L::ZERO);
    cells.iter().map(|&cell| step(std::mem::replace(&mut before, cell), cell)).collect()
}

/// The middle of some latents.
fn middle<L>(latents: &[L], n: usize) -> &[L] {
    let start = latents.len().saturating_sub(n) / 2;
    &latents[start..latents.len().min(start + n)]
}

/// The size of cells, for multiples of `unit`, with which a trend takes the fewest bits, if it may well
/// take fewer than another encoding that takes so many a number.
pub(crate) fn cell<L: Latent>(latents: &[L], unit: L, bits_each: f64) -> Option<L> {
    let stretch = middle(latents, STRETCH);
    let bits = |cell| bits_each_of(stretch, cell, unit, &|steps| path::find(steps).bits);
    let (bits, cell) = least(cells(most_step(stretch)?, unit), bits)?;
    (bits < bits_each * PROMISING).then_some(cell)
}

/// The same by a glance, for latents of which neighbours go up and down; `bits_each` says what another encoding takes of
/// a stretch.
pub(crate) fn glanced<L: Latent>(
    latents: &[L],
    unit: L,
    bits_each: impl Fn(&[L]) -> Option<f64>,
) -> Option<L> {
    let count = |stretch: &[L], is: fn(&L, &L) -> bool| {
        stretch.windows(2).filter(|pair| is(&pair[0], &pair[1])).count()
    };
    let bits = |stretch: &[L], cell| bits_each_of(stretch, cell, unit, &path::guess);
    let few = middle(latents, GLANCE);
    if count(few, L::lt).min(count(few, L::gt)) < few.len() / SCATTER {
        return None;
    }
    let most = most_step(few)?;
    if walks(few, most.max(unit.to_u64())) {
        return None;
    }
    let (least, cell) = least(cells(most, unit), |cell| bits(few, cell))?;
    let stretch = middle(latents, STRETCH);
    let pays = least < bits_each(few)? && bits(stretch, cell) < bits_each(stretch)?;
    pays.then_some(cell)
}

/// Whether numbers are much further apart a few numbers on. Jumps count as four of most steps, which are
/// `most_step` at most, or they would count for all.
fn walks<L: Latent>(stretch: &[L], most_step: u64) -> bool {
    let most = most_step.saturating_mul(4);
    let sum = |lag: usize| -> u128 {
        let apart = stretch.windows(lag + 1).map(|of| size(of[0], of[lag]).min(most));
        apart.map(u128::from).sum()
    };
    2 * sum(LAG) > MOST_FURTHER * sum(1)
}

fn size<L: Latent>(a: L, b: L) -> u64 {
    a.max(b).sub(a.min(b)).to_u64()
}

/// What three quarters of the differences between neighbours are at most.
fn most_step<L: Latent>(stretch: &[L]) -> Option<u64> {
    let mut sizes: Vec<u64> = stretch.windows(2).map(|pair| size(pair[0], pair[1])).collect();
    let at = sizes.len() * 3 / 4;
    (at < sizes.len()).then(|| *sizes.select_nth_unstable(at).1)
}

fn least<L: Latent>(cells: Vec<L>, bits: impl Fn(L) -> f64) -> Option<(f64, L)> {
    let all = cells.into_iter().map(|cell| (bits(cell), cell));
    all.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// Cells that may be best where most steps are that much at most.
fn cells<L: Latent>(most: u64, unit: L) -> Vec<L> {
    let unit = unit.to_u64().max(1);
    if most < unit {
        return vec![L::truncate(unit)];
    }
    (0..L::BITS - CELL_LOG)
        .map_while(|log| unit.checked_mul(1 << log))
        .filter(|cell| CELLS_OF_STEPS.contains(&(most / cell)))
        .map(L::truncate)
        .collect()
}

/// Bits that a number takes in such cells, those below them included, by what the path takes.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn bits_each_of<L: Latent>(stretch: &[L], cell: L, unit: L, path: &dyn Fn(&[i8]) -> f64) -> f64 {
    let (quotients, _) = int_mult::split(stretch.to_vec(), cell);
    let below = (cell.to_u64() / unit.to_u64().max(1)) as f64;
    path(&steps(&quotients)) / stretch.len() as f64 + below.log2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::noise::mix;

    fn check<L: Latent>(cells: impl IntoIterator<Item = u64>) {
        for cell in cells.into_iter().map(L::truncate) {
            let (base, _) = base_of(cell).unwrap();
            // Few bits leave few bases, of which some are those of several cells.
            let of_base = cell_of(base).unwrap();
            assert!(of_base == cell || L::BITS < 32, "{cell} of {base}");
            let latents: Vec<L> =
                (0..3_000).map(|i| L::truncate(i / 40 + mix(i) % 9).mul(cell)).collect();
            let Split { base, trend, above } = split(latents.clone(), cell).unwrap();
            for ((&x, trend), above) in latents.iter().zip(trend).zip(above) {
                assert_eq!(trend.mul(base).add(above), x);
                assert!(above < base, "{above} {base}");
            }
        }
    }

    #[test]
    fn what_is_split_is_their_sum() {
        check::<u8>(1..4);
        check::<u16>((1..1000).step_by(9));
        check::<u32>([1, 2, 3, 60, 3600, 1 << 20, (1 << 26) - 1]);
        check::<u64>([1, 2, 3, 60, 3600, 60_000_000, 1 << 40, (1 << 58) - 1]);
    }

    #[test]
    fn cells_too_wide_have_no_base() {
        assert_eq!(base_of(4u8), None);
        assert_eq!(base_of(0u32), None);
        assert_eq!(base_of(1u64 << 58), None);
        assert_eq!(cell_of(1000u32), None);
    }

    #[test]
    fn scatter_about_a_trend_is_found() {
        let latents: Vec<u64> = (0..20_000).map(|i| 3600 * (i / 60 + mix(i) % 3)).collect();
        assert_eq!(cell(&latents, 3600, 2.5), Some(3600));
        assert_eq!(cell(&latents, 3600, 1.0), None);
        assert_eq!(cell(&latents[..1], 3600, 2.5), None);
    }
}
