//! Whether threads have a core each. Two processors that a machine shows may be two threads of one core, for
//! seconds, as its host places them; and the other thread of a core may be somebody else's. What waits for one
//! result after the other, as chains of divisions do, does not notice; adders do, and so do decoders. So rounds that
//! are timed count only between two looks at what adders come to.

use crate::Failure;
use cpu_time::ProcessTime;
use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// What a thread must have of a core for a round to count.
const ENOUGH: f64 = 0.93;

/// How many times as many rounds as asked for are tried.
const TRIES: usize = 4;

/// How often one looks again, in all, before rounds must do without, and how long after.
const LOOKS: usize = 250;
const PAUSE: Duration = Duration::from_millis(20);

/// The most steps per second that were seen, as bits: those of positive numbers are in their order.
static BEST: AtomicU64 = AtomicU64::new(0);

/// Runs `round` until `rounds` of them had a core for each of so many threads (1 or 2); what those gave.
/// Where none had, all count.
///
/// # Errors
/// What `round` says.
pub fn rounds<R, E>(
    threads: usize,
    rounds: usize,
    mut round: impl FnMut() -> Result<R, E>,
) -> Result<Rounds<R>, E> {
    let (mut whole, mut shared) = (Vec::new(), Vec::new());
    let mut looks = LOOKS;
    while whole.len() < rounds && whole.len() + shared.len() < TRIES * rounds {
        let before = wait_for(threads, &mut looks);
        let result = round()?;
        if before && have(threads) { &mut whole } else { &mut shared }.push(result);
    }
    let (counted, tried) = (whole.len(), whole.len() + shared.len());
    Ok(Rounds { results: if whole.is_empty() { shared } else { whole }, counted, tried })
}

/// What rounds gave.
#[derive(Debug)]
pub struct Rounds<R> {
    /// Of rounds with a core for each thread; of all where there were none.
    pub results: Vec<R>,
    /// How many had.
    pub counted: usize,
    /// Of how many.
    pub tried: usize,
}

/// How many times as fast two threads are as one.
#[derive(Debug)]
pub struct Gain {
    /// By the clock.
    pub clock: f64,
    /// By processor time: as if no thread ever waited.
    pub processors: f64,
    /// Rounds that had two cores.
    pub counted: usize,
    /// Of how many.
    pub tried: usize,
    /// Whether half the rounds that were asked for had.
    pub is_fair: bool,
}

/// One thread and two by turns, the least times of each.
///
/// # Errors
/// What `run` says, which gets the number of threads.
pub fn two_threads(
    rounds: usize,
    mut run: impl FnMut(usize) -> Result<(), Failure>,
) -> Result<Gain, Failure> {
    let mut timed = |threads| {
        let (started, used) = (Instant::now(), ProcessTime::now());
        run(threads)?;
        Ok::<_, Failure>([started.elapsed().as_secs_f64(), used.elapsed().as_secs_f64()])
    };
    timed(1)?;
    timed(2)?;
    let of = self::rounds(2, rounds, || Ok::<_, Failure>([timed(1)?, timed(2)?]))?;
    let least = |threads: usize, clock: usize| {
        of.results.iter().map(|r| r[threads - 1][clock]).fold(f64::INFINITY, f64::min)
    };
    Ok(Gain {
        clock: least(1, 0) / least(2, 0),
        processors: 2.0 * least(1, 1) / least(2, 1),
        counted: of.counted,
        tried: of.tried,
        is_fair: 2 * of.counted >= rounds,
    })
}

/// Whether so many threads have a core each, now or after some of so many looks.
fn wait_for(threads: usize, looks: &mut usize) -> bool {
    loop {
        let found = have(threads);
        if found || *looks == 0 {
            return found;
        }
        *looks -= 1;
        std::thread::sleep(PAUSE);
    }
}

/// Whether so many threads have a core each now.
fn have(threads: usize) -> bool {
    let barrier = Barrier::new(threads);
    let timed = || {
        barrier.wait();
        share()
    };
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(timed)).collect();
        let own = timed();
        others.into_iter().all(|other| other.join().is_ok_and(|share| share >= ENOUGH))
            && own >= ENOUGH
    })
}

/// What this thread has of a core, in some ten microseconds.
fn share() -> f64 {
    const STEPS: u32 = 1 << 14;
    let started = Instant::now();
    black_box(sums(black_box(STEPS)));
    let rate = f64::from(STEPS) / started.elapsed().as_secs_f64();
    rate / f64::from_bits(BEST.fetch_max(rate.to_bits(), Ordering::Relaxed)).max(rate)
}

/// More chains than a core has adders.
fn sums(steps: u32) -> [u32; 8] {
    let mut x: [u32; 8] = black_box([1; 8]);
    for i in 0..steps {
        x = x.map(|x| (x ^ i).rotate_left(5).wrapping_add(x));
    }
    x
}
