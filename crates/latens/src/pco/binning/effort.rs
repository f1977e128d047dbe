//! How much work goes into bins.

use crate::pco::config::{Config, Favor};
use std::ops::RangeInclusive;

/// Buckets of what is stored, at least, but for fewer than so many latents each: at low levels their partition is
/// the smaller part of the work.
const LEAST_BUCKETS: usize = 32;
const LATENTS: usize = 8;
/// Latents of a chunk that is binned more finely than others, and how much more finely.
const SHORT: usize = 1 << 15;
const FINER: usize = 4;
/// How many times as many buckets rare values get at most.
const RARE: usize = 4;
/// Levels whose bins estimates are made with.
const ESTIMATED: RangeInclusive<u32> = 5..=6;
/// Tables up to this log2 are walked as fast as small ones. Larger ones must save more than the rest.
const LARGE_LOG: u32 = 10;
const MUST_SAVE: f64 = 0.00005;
const LARGE_MUST_SAVE: f64 = 0.0005;

/// How finely a variable is binned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// Most buckets of the histogram.
    pub(crate) buckets: usize,
    /// log2 of the largest table.
    pub(crate) max_log: u32,
    pub(super) partition: Partition,
}

/// How buckets are joined to bins, the fastest way first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Partition {
    Coarse,
    Near,
    Close,
    /// As closely, then the ends of bins among all latents, and tables by what they really take.
    Exact,
}

impl Effort {
    /// For what is stored.
    pub(crate) fn of(config: &Config) -> Self {
        let effort = Self::of_level(config.level);
        if config.level >= 11 && config.favor == Favor::Size {
            return Self { partition: Partition::Exact, ..effort };
        }
        effort
    }

    /// As a level asks for.
    pub(crate) fn of_level(level: u32) -> Self {
        let finer = u32::from(level >= 6);
        Self {
            buckets: 1 << (level + finer).min(12),
            max_log: (level + 4).min(12).max(level + 2),
            partition: match level {
                ..8 => Partition::Coarse,
                8..11 => Partition::Near,
                11.. => Partition::Close,
            },
        }
    }

    /// As it is for so many latents: a short chunk's bins are found quickly, and are the smaller part of
    /// what it takes.
    pub(super) fn of_length(self, n: usize) -> Self {
        if self.partition != Partition::Near || n > SHORT {
            let least = LEAST_BUCKETS.min(n / LATENTS);
            return Self { buckets: self.buckets.max(least), ..self };
        }
        let buckets = (self.buckets * FINER).min(1 << 12);
        Self { buckets, partition: Partition::Coarse, ..self }
    }

    /// So many times as many buckets at most get values that come rarely beside such as come often: no more than
    /// a table has slots for.
    pub(super) fn rare(self) -> usize {
        ((1 << self.max_log) / self.buckets).clamp(1, RARE)
    }

    /// The share of its bits that a table of this log2 must save against smaller ones.
    pub(super) fn table_must_save(self, log: u32) -> f64 {
        match self.partition {
            Partition::Coarse | Partition::Near if log > LARGE_LOG => LARGE_MUST_SAVE,
            _ => MUST_SAVE,
        }
    }

    /// For what is only estimated: hardly by level, so that a higher one does not choose worse.
    pub(crate) fn of_estimates(level: u32) -> Self {
        Self::of_level(level.clamp(*ESTIMATED.start(), *ESTIMATED.end()))
    }
}
