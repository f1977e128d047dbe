//! Dict: an index into the chunk's distinct values.

use crate::number::Latent;
use crate::spare;
use latens_kernels::dispatch::Present;

/// The first index that has no value, if there is one.
#[inline(always)]
pub(crate) fn check<L>(indices: &[u32], values: &[L]) -> Result<(), u32> {
    let most = indices.iter().fold(0, |most, &index| most.max(index));
    if indices.is_empty() || (most as usize) < values.len() {
        return Ok(());
    }
    Err(indices.iter().find(|&&i| i as usize >= values.len()).copied().unwrap_or(most))
}

/// Values for indices that are [`check`]ed.
#[inline(always)]
pub(crate) fn join<L: Latent>(indices: &[u32], values: &[L], dst: &mut [L]) {
    for (x, &index) in dst.iter_mut().zip(indices) {
        *x = values[index as usize];
    }
}

/// The same dictionary in the order of its values.
pub(crate) fn in_order<L: Latent>(values: &[L], indices: &[u32]) -> (Vec<L>, Vec<u32>) {
    let mut numbers: Vec<u32> = (0..).take(values.len()).collect();
    numbers.sort_unstable_by_key(|&i| values[i as usize]);
    let ranks = ranks(&numbers);
    let values = numbers.into_iter().map(|i| values[i as usize]).collect();
    let mut others = spare::take(indices.len());
    others.extend(indices.iter().map(|&index| ranks[index as usize]));
    (values, others)
}

/// Where each of some numbers comes among them.
fn ranks(numbers: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0u32; numbers.len()];
    for (new, &old) in (0u32..).zip(numbers) {
        ranks[old as usize] = new;
    }
    ranks
}

/// How the distinct values are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// The most frequent first, for indices that are coded as they are.
    Count,
    /// The least first, for indices whose differences are small where those of the values are.
    Value,
}

/// Distinct values and the index of each latent; `None` when there are more than `most`.
pub(crate) fn split<L: Latent>(
    latents: &[L],
    most: usize,
    order: Order,
) -> Option<(Vec<L>, Vec<u32>)> {
    if let Some((min, span)) = dense_span(latents) {
        return split_dense(latents, min, span, most, order);
    }
    let mut values = Distinct::new();
    let mut indices = spare::take(latents.len());
    for &x in latents {
        indices.push(values.index(x));
        if values.values.len() > most {
            return None;
        }
    }
    let mut numbers: Vec<u32> = (0..).take(values.values.len()).collect();
    let value = |i: u32| values.values[i as usize];
    match order {
        Order::Count => numbers
            .sort_unstable_by_key(|&i| (std::cmp::Reverse(values.counts[i as usize]), value(i))),
        Order::Value => numbers.sort_unstable_by_key(|&i| value(i)),
    }
    let ranks = ranks(&numbers);
    for index in &mut indices {
        *index = ranks[*index as usize];
    }
    Some((numbers.into_iter().map(value).collect(), indices))
}

/// Values that span no more than this need no hashes.
const DENSE: u64 = 1 << 16;

/// The least latent and how far above it the greatest one lies, where that is not far.
fn dense_span<L: Latent>(latents: &[L]) -> Option<(L, usize)> {
    let first = *latents.first()?;
    let (min, max) = Present::in_use().call(
        #[inline(always)]
        || latents.iter().fold((first, first), |(min, max), &x| (min.min(x), max.max(x))),
    );
    let span = max.sub(min).to_u64();
    #[expect(clippy::cast_possible_truncation, reason = "below DENSE")]
    let is_dense =
        (span < DENSE && span / 4 < latents.len() as u64).then_some((min, span as usize));
    is_dense
}

/// [`split`] by tables of all values that there may be.
fn split_dense<L: Latent>(
    latents: &[L],
    min: L,
    span: usize,
    most: usize,
    order: Order,
) -> Option<(Vec<L>, Vec<u32>)> {
    #[expect(clippy::cast_possible_truncation, reason = "below DENSE")]
    let place = |x: L| x.sub(min).to_u64() as usize;
    let mut counts = vec![0u32; span + 1];
    for &x in latents {
        counts[place(x)] += 1;
    }
    let mut numbers: Vec<u32> =
        (0..).zip(&counts).filter(|&(_, &count)| count > 0).map(|(number, _)| number).collect();
    if numbers.len() > most {
        return None;
    }
    if order == Order::Count {
        numbers.sort_unstable_by_key(|&i| (std::cmp::Reverse(counts[i as usize]), i));
    }
    let mut ranks = counts;
    for (new, &old) in (0u32..).zip(&numbers) {
        ranks[old as usize] = new;
    }
    let values = numbers.into_iter().map(|i| min.add(L::truncate(i.into()))).collect();
    let mut indices = spare::take(latents.len());
    indices.extend(latents.iter().map(|&x| ranks[place(x)]));
    Some((values, indices))
}

/// Values in the order of their first appearance, found by hash.
struct Distinct<L> {
    values: Vec<L>,
    counts: Vec<u32>,
    /// A value and one more than its index, 0 for free; open addressing, at most half full.
    table: Vec<(L, u32)>,
    shift: u32,
}

impl<L: Latent> Distinct<L> {
    fn new() -> Self {
        Self {
            values: Vec::new(),
            counts: Vec::new(),
            table: vec![(L::ZERO, 0); 1 << 10],
            shift: 64 - 10,
        }
    }

    fn slot(&self, x: L) -> usize {
        let mixed = x.to_u64() ^ x.to_u64() >> 32;
        #[expect(clippy::cast_possible_truncation, reason = "as many bits as the table has")]
        let mut at = (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> self.shift) as usize;
        while self.table[at].1 != 0 && self.table[at].0 != x {
            at = (at + 1) & (self.table.len() - 1);
        }
        at
    }

    fn index(&mut self, x: L) -> u32 {
        let mut slot = self.slot(x);
        if self.table[slot].1 == 0 {
            if self.values.len() * 2 >= self.table.len() {
                self.grow();
                slot = self.slot(x);
            }
            self.values.push(x);
            self.counts.push(0);
            #[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 latents at most")]
            let index = self.values.len() as u32;
            self.table[slot] = (x, index);
        }
        let index = self.table[slot].1 - 1;
        self.counts[index as usize] += 1;
        index
    }

    fn grow(&mut self) {
        self.shift -= 1;
        self.table = vec![(L::ZERO, 0); self.table.len() * 2];
        for i in 0..self.values.len() {
            let slot = self.slot(self.values[i]);
            #[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 latents at most")]
            let index = i as u32 + 1;
            self.table[slot] = (self.values[i], index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_come_first() {
        let (values, indices) = split(&[7u64, 9, 7, 1 << 60, 7, 9], 3, Order::Count).unwrap();
        assert_eq!((values, indices), (vec![7, 9, 1 << 60], vec![0, 1, 0, 2, 0, 1]));
        assert!(split(&[1u8, 2, 3], 2, Order::Value).is_none());
    }

    #[test]
    fn a_dictionary_is_put_in_order() {
        let latents: Vec<u32> = (0..5000u32).map(|i| i.wrapping_mul(i) % 997 * 4_321).collect();
        let (values, indices) = split(&latents, 1 << 10, Order::Count).unwrap();
        assert_eq!(Some(in_order(&values, &indices)), split(&latents, 1 << 10, Order::Value));
    }

    #[test]
    fn many_values_come_back() {
        let latents: Vec<u32> = (0..50_000u32).map(|i| i.wrapping_mul(i) % 9973 * 4321).collect();
        let (values, indices) = split(&latents, 1 << 20, Order::Value).unwrap();
        assert!(values.is_sorted());
        let mut joined = vec![0; latents.len()];
        assert_eq!(check(&indices, &values), Ok(()));
        join(&indices, &values, &mut joined);
        assert_eq!(joined, latents);
    }
}
