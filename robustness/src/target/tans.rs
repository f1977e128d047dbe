//! tANS tables: a chunk is written field by field with any bins and weights, sound or not.

use super::{Verdict, interop};
use crate::common::fields::Fields;
use crate::ground::Ground;
use crate::ground::pco::type_of;
use crate::random::{Random, noise};
use latens::NumberType;

/// Recipes of noise.
pub fn recipes() -> Vec<Ground> {
    let mut random = Random(23);
    (0..88u8)
        .map(|selector| {
            let n = 4 + random.below(70);
            Ground::new(format!("recipe {selector}"), selector, noise(&mut random, n))
        })
        .collect()
}

/// Log, count of numbers, bins of three bytes each, then bits of the page. Weights are made to sum
/// to the table's size unless the first byte says otherwise; the selector is the type.
pub fn body(selector: u8, recipe: &[u8]) -> Verdict {
    let ty = type_of(selector);
    let file = written(ty, selector >= 0xc0, recipe);
    let verdict = super::pco::body(0, &file);
    interop::same_as_pco(ty, &file);
    verdict
}

fn written(ty: NumberType, unsound: bool, recipe: &[u8]) -> Vec<u8> {
    let mut bytes = recipe.iter().copied();
    let mut next = || u64::from(bytes.next().unwrap_or(0));
    let (head, count) = (next(), next());
    let log = head % 9;
    let size = 1u64 << log;
    let wanted = (count % 24).min(size).max(u64::from(head < 240));
    let width = ty.bits();
    let mut left = size;
    let bins: Vec<(u64, u64, u64)> = (0..wanted)
        .map(|i| {
            let to_come = wanted - 1 - i;
            let most = left.saturating_sub(to_come).max(1);
            let weight = if to_come == 0 && !unsound { left.max(1) } else { 1 + next() % most };
            left = left.saturating_sub(weight);
            let lower = next().wrapping_mul(0x0101_0101_0101_0101).rotate_left((7 * i) as u32);
            let offset_bits = next() % (width as u64 + u64::from(unsound) + 1);
            (weight, lower & (u64::MAX >> (64 - width)), offset_bits)
        })
        .collect();
    let log = if bins.len() < 2 && !unsound { 0 } else { log };
    let bins = match bins.len() {
        1 if !unsound => vec![(1, bins[0].1, bins[0].2)],
        _ => bins,
    };
    let n = 1 + next() * 3;
    let classic = Fields::head(0, n).chunk(ty.pco_byte(), n).field(0, 4).field(0, 4);
    let meta = classic.variable(width as usize, log, &bins).pad();
    let mut page = Random(next());
    // States of the four lanes, then as many bits as the widest bins could take.
    let mut fields = (0..4).fold(meta, |fields, _| fields.field(page.word(), log as usize)).pad();
    let most = bins.iter().map(|bin| bin.2).max().unwrap_or(0) as usize + log as usize;
    for _ in 0..(n as usize * most).div_ceil(64) {
        fields = fields.field(page.word(), 64);
    }
    fields.end()
}
