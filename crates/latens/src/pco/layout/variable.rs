//! A latent variable of a chunk: the size of its tANS table and its bins.
//!
//! | bits | field |
//! |---|---|
//! | 4 | log of the table size T, at most 14 |
//! | 15 | count of bins, at most T |
//! | log | weight − 1 of a bin; the weights sum to T |
//! | k | lower bound of a bin, a plain latent |
//! | 4–7 | offset bits of a bin, at most k: as many bits as it takes to write k |
//!
//! One bin has log 0. No bins: log 0, and no page stores latents of this variable.

use crate::ans::tans::MAX_LOG;
use crate::bits::reader::BitReader;
use crate::bits::writer::BitWriter;
use crate::error::{Error, Result};
use crate::number::Latent;

/// A range of latents: `lower` and as many bits of offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bin<L> {
    /// Slots of the table, at least 1.
    pub(crate) weight: u32,
    /// The smallest latent (sums wrap).
    pub(crate) lower: L,
    /// Bits that follow to say which latent.
    pub(crate) offset_bits: u32,
}

/// Table size and bins of a latent variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Variable<L> {
    /// log2 of the table size.
    pub(crate) log: u32,
    /// In file order.
    pub(crate) bins: Vec<Bin<L>>,
}

/// Bits of the offset-bits field: 4, 5, 6, 7 for 8, 16, 32, 64.
pub(crate) const fn offset_field_bits(k: u32) -> u32 {
    k.ilog2() + 1
}

impl<L: Latent> Variable<L> {
    /// Reads and checks a variable called `name`.
    pub(crate) fn read(r: &mut BitReader<'_>, name: &'static str) -> Result<Self> {
        let at = r.byte();
        let corrupt = |what: String| Err(Error::corrupt(at, format!("{name} variable: {what}")));
        let log = r.read_u32(4, "the size of a tANS table")?;
        let n = r.read_u32(15, "a count of bins")?;
        if log > MAX_LOG {
            return corrupt(format!("a tANS table of 2^{log}; 2^{MAX_LOG} is the largest"));
        }
        if n > 1 << log {
            return corrupt(format!("{n} bins in a tANS table of 2^{log}"));
        }
        if n <= 1 && log > 0 {
            return corrupt(format!("a tANS table of 2^{log} for {n} bins"));
        }
        let bits = u64::from(n) * u64::from(log + L::BITS + offset_field_bits(L::BITS));
        if bits > r.bits_left() as u64 {
            return Err(Error::truncated(
                r.end(),
                format!("the input ends inside of the {n} bins of the {name} variable"),
            ));
        }
        let mut bins = Vec::with_capacity(n as usize);
        let mut weights = 0;
        for i in 0..n {
            let at = r.byte();
            let weight = 1 + r.read_u32(log, "the weight of a bin")?;
            let lower = L::truncate(r.read(L::BITS, "the lower bound of a bin")?);
            let offset_bits = r.read_u32(offset_field_bits(L::BITS), "the offset bits of a bin")?;
            if offset_bits > L::BITS {
                return Err(Error::corrupt(
                    at,
                    format!(
                        "{name} variable: bin {i} has {offset_bits} offset bits; its latents have {}",
                        L::BITS
                    ),
                ));
            }
            weights += weight;
            bins.push(Bin { weight, lower, offset_bits });
        }
        if n > 0 && weights != 1 << log {
            return corrupt(format!(
                "the weights of the bins sum to {weights}, the table holds {}",
                1 << log
            ));
        }
        Ok(Self { log, bins })
    }

    /// Writes the variable.
    pub(crate) fn write(&self, w: &mut BitWriter) {
        w.write(u64::from(self.log), 4);
        w.write(self.bins.len() as u64, 15);
        for bin in &self.bins {
            w.write(u64::from(bin.weight - 1), self.log);
            w.write(bin.lower.to_u64(), L::BITS);
            w.write(u64::from(bin.offset_bits), offset_field_bits(L::BITS));
        }
    }

    /// Bits that [`Variable::write`] appends.
    pub(crate) fn written_bits(&self) -> usize {
        19 + self.bins.len() * (self.log + L::BITS + offset_field_bits(L::BITS)) as usize
    }
}
