//! Dict: an index into the chunk's distinct values.

use crate::number::Latent;
use std::collections::HashMap;

/// Values for indices; the first index without a value, if there is one.
#[inline]
pub(crate) fn join<L: Latent>(indices: &[u32], values: &[L], dst: &mut [L]) -> Result<(), u32> {
    for (x, &index) in dst.iter_mut().zip(indices) {
        match values.get(index as usize) {
            Some(&value) => *x = value,
            None => return Err(index),
        }
    }
    Ok(())
}

/// Distinct values, the most frequent first, and the index of each latent; `None` when there are
/// more than `most`.
pub(crate) fn split<L: Latent>(latents: &[L], most: usize) -> Option<(Vec<L>, Vec<u32>)> {
    let mut counts: HashMap<L, u32> = HashMap::new();
    for &x in latents {
        *counts.entry(x).or_default() += 1;
        if counts.len() > most {
            return None;
        }
    }
    let mut by_count: Vec<(L, u32)> = counts.iter().map(|(&x, &n)| (x, n)).collect();
    by_count.sort_unstable_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    for (index, (x, _)) in (0u32..).zip(&by_count) {
        counts.insert(*x, index);
    }
    let indices = latents.iter().map(|x| counts[x]).collect();
    Some((by_count.into_iter().map(|(x, _)| x).collect(), indices))
}
