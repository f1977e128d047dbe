//! Interleaved timing: machines are noisy, so competitors take turns and medians are quoted.

use cpu_time::ThreadTime;

/// Runs the competitors in turn, `rounds` times over after one round that does not count, and
/// returns the median seconds of processor time of each; they must not start threads.
pub fn medians(rounds: usize, competitors: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut times = vec![Vec::with_capacity(rounds); competitors.len()];
    for round in 0..=rounds {
        for (run, times) in competitors.iter_mut().zip(&mut times) {
            let started = ThreadTime::now();
            run();
            if round > 0 {
                times.push(started.elapsed().as_secs_f64());
            }
        }
    }
    let median = |mut times: Vec<f64>| {
        times.sort_unstable_by(f64::total_cmp);
        times[times.len() / 2]
    };
    times.into_iter().map(median).collect()
}

/// Seconds of processor time of one run; it must not start threads.
pub fn once(run: &mut dyn FnMut()) -> f64 {
    let started = ThreadTime::now();
    run();
    started.elapsed().as_secs_f64()
}
