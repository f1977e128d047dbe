//! What became of cases, as numbers that survive the process that counted them.

macro_rules! counters {
    ($($name:ident: $what:literal),* $(,)?) => {
        /// Places in a [`Tally`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Counter {
            $(#[doc = $what] $name,)*
        }
        const COUNTERS: usize = [$(stringify!($name)),*].len();
    };
}

counters! {
    Next: "The case that is next, or under way.",
    Cases: "Cases that ended.",
    Errors: "Refused.",
    Same: "Accepted, with the output of the undamaged file.",
    Silent: "Accepted, with another output.",
    Limited: "Refused because the output would pass the limit.",
    Panics: "Ended by a panic.",
    Crashes: "The process died: an abort, a signal.",
    Hangs: "Over five seconds of processor time.",
    Wrong: "Any other rule broken: memory, an error without its byte, a write behind the count.",
    ErrorMemory: "Most bytes held where the answer was an error.",
    ErrorExcess: "The same, less four times the input.",
    ValueExcess: "Most bytes held where it was not, less 1.25 times the output.",
    ErrorTime: "Longest until an error, in nanoseconds.",
    ValueTime: "Longest until an output, in nanoseconds.",
    TimePer128MiB: "Longest time for outputs of 1 MiB or more, in nanoseconds for 128 MiB.",
}

/// Counters, written as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally([u64; COUNTERS]);

/// Bytes of a [`Tally`].
pub const BYTES: usize = 8 * COUNTERS;

impl Tally {
    /// A counter.
    pub fn get(&self, counter: Counter) -> u64 {
        self.0[counter as usize]
    }

    /// One more.
    pub fn count(&mut self, counter: Counter) {
        self.0[counter as usize] += 1;
    }

    /// Sets it.
    pub fn set(&mut self, counter: Counter, value: u64) {
        self.0[counter as usize] = value;
    }

    /// Raises it to `value`.
    pub fn raise(&mut self, counter: Counter, value: u64) {
        let place = &mut self.0[counter as usize];
        *place = value.max(*place);
    }

    /// Counts and maxima of both.
    pub fn add(&mut self, other: &Tally) {
        for (i, (a, &b)) in self.0.iter_mut().zip(&other.0).enumerate() {
            *a = if i >= Counter::ErrorMemory as usize { b.max(*a) } else { *a + b };
        }
    }

    /// Findings of any kind.
    pub fn bad(&self) -> u64 {
        [Counter::Panics, Counter::Crashes, Counter::Hangs, Counter::Wrong]
            .map(|counter| self.get(counter))
            .iter()
            .sum()
    }

    /// As bytes.
    pub fn to_bytes(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        for (place, counter) in bytes.chunks_exact_mut(8).zip(&self.0) {
            place.copy_from_slice(&counter.to_le_bytes());
        }
        bytes
    }

    /// From as many of its bytes as there are.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        let mut tally = Tally::default();
        for (counter, place) in tally.0.iter_mut().zip(bytes.chunks_exact(8)) {
            *counter = u64::from_le_bytes(place.try_into().unwrap());
        }
        tally
    }
}
