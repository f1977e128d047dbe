//! What became of damaged inputs, for the tests of every format.

use std::collections::BTreeMap;
use std::time::Duration;

/// Output in bytes at which cases are cut off: what lies beyond is a bomb, and looked at elsewhere.
pub const MAX_OUTPUT: u64 = 1 << 20;

/// What a decoder may hold when its answer is an error.
pub fn error_bound(input: usize) -> usize {
    (16 << 20) + 4 * input
}

/// What a decoder may hold when its answer is so many bytes of numbers.
pub fn value_bound(output: usize) -> usize {
    (16 << 20) + output * 5 / 4
}

/// Counts, maxima, and whatever should not have been.
#[derive(Default)]
pub struct Tally {
    pub cases: usize,
    pub slowest: Duration,
    pub most_memory: usize,
    counts: BTreeMap<&'static str, usize>,
    pub wrong: Vec<String>,
}

impl Tally {
    /// A case is over.
    pub fn case(&mut self, time: Duration, memory: usize) {
        self.cases += 1;
        self.slowest = self.slowest.max(time);
        self.most_memory = self.most_memory.max(memory);
    }

    /// One more of `what`.
    pub fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// How many of `what` there were.
    pub fn counted(&self, what: &str) -> usize {
        self.counts.get(what).copied().unwrap_or(0)
    }

    pub fn add(&mut self, other: Tally) {
        self.cases += other.cases;
        self.slowest = self.slowest.max(other.slowest);
        self.most_memory = self.most_memory.max(other.most_memory);
        for (what, count) in other.counts {
            *self.counts.entry(what).or_default() += count;
        }
        self.wrong.extend(other.wrong);
    }

    /// Prints all of it; panics where something is wrong.
    pub fn report(&self, what: &str) {
        let counts: String =
            self.counts.iter().map(|(what, count)| format!(", {count} {what}")).collect();
        let (cases, slowest, memory) = (self.cases, self.slowest, self.most_memory);
        println!("{what}: {cases} cases{counts}; slowest {slowest:?}, most memory {memory} bytes");
        let first = &self.wrong[..self.wrong.len().min(20)];
        assert!(self.wrong.is_empty(), "{} findings:\n{}", self.wrong.len(), first.join("\n"));
    }
}

/// `work` for each of `cases`, on all cores.
pub fn on_all_cores(cases: usize, work: impl Fn(usize, &mut Tally) + Sync) -> Tally {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    std::thread::scope(|scope| {
        let work = &work;
        let run = move |thread: usize| {
            let mut tally = Tally::default();
            (thread..cases).step_by(threads).for_each(|case| work(case, &mut tally));
            tally
        };
        let threads: Vec<_> = (0..threads).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().fold(Tally::default(), |mut sum, thread| {
            sum.add(thread.join().expect("no thread panics"));
            sum
        })
    })
}

/// A number from the environment.
pub fn number(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |text| text.parse().expect("a number"))
}
