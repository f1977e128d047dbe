//! Dict: an index into the chunk's distinct values.

use crate::number::Latent;
use crate::pco::dense;
use crate::spare;

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

/// Where each of some numbers below `end` comes among them.
fn ranks(numbers: impl Iterator<Item = u32>, end: usize) -> Vec<u32> {
    let mut ranks = vec![0u32; end];
    for (new, old) in (0u32..).zip(numbers) {
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

/// The distinct values of a chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dict<L> {
    pub(crate) values: Vec<L>,
    /// By value, how often it comes.
    pub(crate) counts: Vec<u32>,
    /// By latent, its value's place.
    pub(crate) indices: Vec<u32>,
}

impl<L: Latent> Dict<L> {
    /// `None` when there are more than `most` values.
    pub(crate) fn new(latents: &[L], most: usize, order: Order) -> Option<Self> {
        let span = |limits: (L, L)| Some((limits.0, dense::span(limits, latents.len())?));
        match dense::bounds(latents).and_then(span) {
            Some((min, span)) => Self::by_value(latents, min, span, most, order),
            None => Self::by_hash(latents, most, order),
        }
    }

    fn by_hash(latents: &[L], most: usize, order: Order) -> Option<Self> {
        let mut distinct = Distinct::new();
        let mut indices = spare::take(latents.len());
        for &x in latents {
            indices.push(distinct.index(x));
            if distinct.found > most {
                return None;
            }
        }
        let mut entries = distinct.entries();
        sort(&mut entries, order);
        let ranks = ranks(entries.iter().map(|entry| entry.number), entries.len());
        for index in &mut indices {
            *index = ranks[*index as usize];
        }
        Some(Self::of(&entries, indices))
    }

    /// By tables of all values that there may be.
    fn by_value(latents: &[L], min: L, span: usize, most: usize, order: Order) -> Option<Self> {
        let counts = dense::counts(latents, min, span);
        let mut entries: Vec<Entry<L>> = (0u32..)
            .zip(&counts)
            .filter(|&(_, &count)| count > 0)
            .map(|(number, &count)| Entry {
                value: min.add(L::truncate(number.into())),
                count,
                number,
            })
            .collect();
        if entries.len() > most {
            return None;
        }
        sort(&mut entries, order);
        let ranks = ranks(entries.iter().map(|entry| entry.number), span + 1);
        let mut indices = spare::take(latents.len());
        indices.extend(latents.iter().map(|&x| ranks[dense::place(x, min)]));
        Some(Self::of(&entries, indices))
    }

    fn of(entries: &[Entry<L>], indices: Vec<u32>) -> Self {
        Self {
            values: entries.iter().map(|entry| entry.value).collect(),
            counts: entries.iter().map(|entry| entry.count).collect(),
            indices,
        }
    }

    /// The same dictionary in the order of its values.
    pub(crate) fn in_order(values: &[L], counts: &[u32], indices: &[u32]) -> Self {
        let numbered = (0u32..).zip(values.iter().zip(counts));
        let mut entries: Vec<Entry<L>> =
            numbered.map(|(number, (&value, &count))| Entry { value, count, number }).collect();
        sort(&mut entries, Order::Value);
        let ranks = ranks(entries.iter().map(|entry| entry.number), entries.len());
        let mut others = spare::take(indices.len());
        others.extend(indices.iter().map(|&index| ranks[index as usize]));
        Self::of(&entries, others)
    }
}

/// A value, how often it comes, and a number that it had before.
#[derive(Clone, Copy, Debug)]
struct Entry<L> {
    value: L,
    count: u32,
    number: u32,
}

fn sort<L: Latent>(entries: &mut [Entry<L>], order: Order) {
    match order {
        Order::Count => entries.sort_unstable_by_key(|e| (std::cmp::Reverse(e.count), e.value)),
        Order::Value => entries.sort_unstable_by_key(|e| e.value),
    }
}

/// A place out of `2^log` for a value.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "as many bits as are asked for")]
pub(crate) fn hash<L: Latent>(x: L, log: u32) -> usize {
    let mixed = x.to_u64() ^ x.to_u64() >> 32;
    (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - log)) as usize
}

/// Values in the order of their first appearance, found by hash.
struct Distinct<L> {
    /// `number` is one more than the value's, 0 for free; open addressing, at most half full.
    table: Vec<Entry<L>>,
    log: u32,
    found: usize,
}

impl<L: Latent> Distinct<L> {
    const FREE: Entry<L> = Entry { value: L::ZERO, count: 0, number: 0 };

    fn new() -> Self {
        Self { table: spare::filled(Self::FREE, 1 << 10), log: 10, found: 0 }
    }

    #[inline(always)]
    fn slot(&self, x: L) -> usize {
        let mut at = hash(x, self.log);
        while self.table[at].number != 0 && self.table[at].value != x {
            at = (at + 1) & (self.table.len() - 1);
        }
        at
    }

    #[inline(always)]
    fn index(&mut self, x: L) -> u32 {
        let mut slot = self.slot(x);
        if self.table[slot].number == 0 {
            if self.found * 2 >= self.table.len() {
                self.grow();
                slot = self.slot(x);
            }
            self.found += 1;
            #[expect(clippy::cast_possible_truncation, reason = "a chunk has 2^24 latents at most")]
            let number = self.found as u32;
            self.table[slot] = Entry { value: x, count: 0, number };
        }
        let entry = &mut self.table[slot];
        entry.count += 1;
        entry.number - 1
    }

    #[cold]
    fn grow(&mut self) {
        self.log += 1;
        let larger = spare::filled(Self::FREE, self.table.len() * 2);
        let table = std::mem::replace(&mut self.table, larger);
        for &entry in table.iter().filter(|entry| entry.number != 0) {
            let slot = self.slot(entry.value);
            self.table[slot] = entry;
        }
        spare::give(table);
    }

    /// All that were found, numbered from 0.
    fn entries(self) -> Vec<Entry<L>> {
        let found = self.table.iter().filter(|entry| entry.number != 0);
        let entries = found.map(|&entry| Entry { number: entry.number - 1, ..entry }).collect();
        spare::give(self.table);
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_frequent_come_first() {
        let dict = Dict::new(&[7u64, 9, 7, 1 << 60, 7, 9], 3, Order::Count).unwrap();
        assert_eq!((dict.values, dict.counts), (vec![7, 9, 1 << 60], vec![3, 2, 1]));
        assert_eq!(dict.indices, [0, 1, 0, 2, 0, 1]);
        assert!(Dict::new(&[1u8, 2, 3], 2, Order::Value).is_none());
        assert_eq!(Dict::<u32>::new(&[], 2, Order::Count).map(|dict| dict.values), Some(vec![]));
    }

    #[test]
    fn a_dictionary_is_put_in_order() {
        let latents: Vec<u32> = (0..5000u32).map(|i| i.wrapping_mul(i) % 997 * 4_321).collect();
        let Dict { values, counts, indices } = Dict::new(&latents, 1 << 10, Order::Count).unwrap();
        let in_order = Dict::in_order(&values, &counts, &indices);
        assert_eq!(Some(in_order), Dict::new(&latents, 1 << 10, Order::Value));
    }

    #[test]
    fn many_values_come_back() {
        let latents: Vec<u32> = (0..50_000u32).map(|i| i.wrapping_mul(i) % 9973 * 4321).collect();
        let Dict { values, counts, indices } = Dict::new(&latents, 1 << 20, Order::Value).unwrap();
        assert!(values.is_sorted() && counts.iter().sum::<u32>() == 50_000);
        let mut joined = vec![0; latents.len()];
        assert_eq!(check(&indices, &values), Ok(()));
        join(&indices, &values, &mut joined);
        assert_eq!(joined, latents);
    }
}
