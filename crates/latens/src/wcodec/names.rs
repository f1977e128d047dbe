//! Finding entries by their names without keeping the names: eight bytes each.

use std::hash::{BuildHasher, RandomState};

/// Digests of names, each with the number of its entry, in order.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// Keyed at random: nobody can write an index of many names that are digested alike.
    digest: RandomState,
    sorted: Vec<(u32, u32)>,
}

impl Names {
    /// With room for so many.
    pub(crate) fn with_capacity(count: usize) -> Self {
        Self { digest: RandomState::new(), sorted: Vec::with_capacity(count) }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.sorted.len()
    }

    fn digest(&self, name: &str) -> u32 {
        // The low half of a good hash is one.
        let [a, b, c, d, ..] = self.digest.hash_one(name).to_le_bytes();
        u32::from_le_bytes([a, b, c, d])
    }

    pub(crate) fn push(&mut self, name: &str, number: u32) {
        self.sorted.push((self.digest(name), number));
    }

    /// To be called once all are there.
    pub(crate) fn sort(&mut self) {
        self.sorted.sort_unstable();
    }

    /// Numbers of the entries that may have this name, in order: seldom more than one.
    pub(crate) fn candidates(&self, name: &str) -> impl Iterator<Item = u32> + use<'_> {
        let digest = self.digest(name);
        let first = self.sorted.partition_point(|&(d, _)| d < digest);
        let from_there = self.sorted.get(first..).unwrap_or_default().iter();
        from_there.take_while(move |&&(d, _)| d == digest).map(|&(_, number)| number)
    }

    /// Runs of entries that may have the same name.
    pub(crate) fn alike(&self) -> impl Iterator<Item = &[(u32, u32)]> {
        self.sorted.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_doubles_seen() {
        let mut names = Names::with_capacity(1001);
        (0..1000).for_each(|i| names.push(&format!("n{i}"), i));
        names.sort();
        assert!((0..1000).all(|i| names.candidates(&format!("n{i}")).any(|n| n == i)));
        let before = names.alike().count();
        names.push("n7", 1000);
        names.sort();
        assert_eq!(names.alike().count(), before + 1);
        let both: Vec<u32> = names.candidates("n7").collect();
        assert!(both.contains(&7) && both.contains(&1000));
    }
}
