//! Interleaved timing: machines are noisy, so competitors take turns and medians are quoted.

use crate::cores;
use cpu_time::ThreadTime;
use std::convert::Infallible;

/// Runs the competitors in turn, `rounds` times over after one round that does not count, and
/// returns the median seconds of processor time of each; they must not start threads. Rounds count
/// that had [a whole core](cores).
pub fn medians(rounds: usize, competitors: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut round = || competitors.iter_mut().map(|run| once(run)).collect::<Vec<_>>();
    round();
    let rounds = cores::rounds(1, rounds, || Ok::<_, Infallible>(round()));
    let Ok(rounds) = rounds;
    let median = |of: usize| {
        let mut times: Vec<f64> = rounds.results.iter().map(|times| times[of]).collect();
        times.sort_unstable_by(f64::total_cmp);
        times[times.len() / 2]
    };
    (0..competitors.len()).map(median).collect()
}

/// Seconds of processor time of one run; it must not start threads.
pub fn once(run: &mut dyn FnMut()) -> f64 {
    let started = ThreadTime::now();
    run();
    started.elapsed().as_secs_f64()
}
