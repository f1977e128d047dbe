//! Runs workers as child processes. One that dies, or is at the same case for five seconds of
//! processor time, is counted, and another goes on behind that case.

use crate::tally::{Counter, Tally};
use crate::target::Target;
use crate::worker::Range;
use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A case that takes more processor time hangs.
const PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks at a child.
const PAUSE: Duration = Duration::from_millis(10);
/// So many looks at the same case, two minutes at least, and a child hangs that takes no processor
/// time; making the sound files may take as long. Looks, as the clock goes on while all are stopped.
const LOOKS: u32 = 12_000;

/// What came of a target.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Counts and maxima.
    pub tally: Tally,
    /// A line each.
    pub findings: Vec<String>,
    /// Of all its workers together.
    pub seconds: f64,
}

/// Runs `wanted` cases of a target in `threads` child processes at a time.
///
/// # Errors
/// Those of starting a process, and of its files.
pub fn run(target: &Target, wanted: usize, seed: u64, threads: usize) -> io::Result<Outcome> {
    let start = Instant::now();
    let outcomes: Vec<io::Result<Outcome>> = std::thread::scope(|scope| {
        let shard = |from| {
            let range = Range { from, step: threads, wanted, seed };
            scope.spawn(move || one_shard(target, range))
        };
        let shards: Vec<_> = (0..threads).map(shard).collect();
        shards.into_iter().map(|shard| shard.join().expect("a shard does not panic")).collect()
    });
    let mut sum = Outcome::default();
    for outcome in outcomes {
        let outcome = outcome?;
        sum.tally.add(&outcome.tally);
        sum.findings.extend(outcome.findings);
    }
    sum.seconds = start.elapsed().as_secs_f64();
    Ok(sum)
}

fn one_shard(target: &Target, mut range: Range) -> io::Result<Outcome> {
    let folder = crate::target::tool::Folder::new();
    let (progress, findings) = (folder.path("progress"), folder.path("findings"));
    let mut outcome = Outcome::default();
    while range.from < range.wanted {
        let _ = fs::remove_file(&progress);
        let mut child = start(target, range, &progress, &findings)?;
        let end = watch(&mut child, &progress, PATIENCE)?;
        crate::target::tool::forget(child.id());
        let mut tally = Tally::from_bytes(&fs::read(&progress).unwrap_or_default());
        let at = (tally.get(Counter::Next) as usize).max(range.from);
        match &end {
            End::Well => {}
            End::Hang => tally.count(Counter::Hangs),
            End::Died(_) => tally.count(Counter::Crashes),
        }
        if let End::Died(how) = &end
            && !progress.exists()
        {
            return Err(io::Error::other(format!("{} did not start: {how}", target.name)));
        }
        if let End::Hang | End::Died(_) = end {
            let said = format!("{} seed {} case {at}: {end:?}", target.name, range.seed);
            outcome.findings.push(said);
            tally.count(Counter::Cases);
        }
        outcome.tally.add(&tally);
        range.from = if matches!(end, End::Well) { range.wanted } else { at + range.step };
    }
    let lines = fs::read_to_string(&findings).unwrap_or_default();
    outcome.findings.extend(lines.lines().map(ToOwned::to_owned));
    Ok(outcome)
}

#[derive(Debug)]
enum End {
    Well,
    Hang,
    Died(String),
}

fn start(target: &Target, range: Range, progress: &Path, findings: &Path) -> io::Result<Child> {
    let numbers = [range.from, range.step, range.wanted].map(|n| n.to_string());
    Command::new(std::env::current_exe()?)
        .args(["worker", target.name])
        .args(numbers)
        .arg(range.seed.to_string())
        .args([progress, findings])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
}

/// Waits for the end, as long as it goes on.
fn watch(child: &mut Child, progress: &Path, patience: Duration) -> io::Result<End> {
    let (mut last, mut since, mut looks) = (None, Duration::ZERO, 0);
    loop {
        if let Some(status) = child.try_wait()? {
            let mut words = String::new();
            if let Some(stderr) = &mut child.stderr {
                let _ = io::Read::read_to_string(stderr, &mut words);
            }
            let words = words.lines().take(3).collect::<Vec<_>>().join(" / ");
            return Ok(match (status.success(), status.signal()) {
                (true, _) => End::Well,
                (_, Some(signal)) => End::Died(format!("signal {signal}: {words}")),
                _ => End::Died(format!("{status}: {words}")),
            });
        }
        let now = fs::read(progress).ok().map(|bytes| Tally::from_bytes(&bytes).get(Counter::Next));
        let used = processor_time(child.id());
        if now != last {
            (last, since, looks) = (now, used, 0);
        } else if looks == LOOKS || last.is_some() && used.saturating_sub(since) > patience {
            child.kill()?;
            child.wait()?;
            return Ok(End::Hang);
        }
        looks += 1;
        std::thread::sleep(PAUSE);
    }
}

/// What all threads of a process have taken, for themselves and by the system; nothing where no
/// system says so.
fn processor_time(process: u32) -> Duration {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The name before stands in brackets, and may hold spaces and brackets itself.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let ticks = fields.split_ascii_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    // Linux counts it in hundredths of a second here, whatever its own ticks are.
    Duration::from_millis(10 * ticks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::tool::Folder;

    fn end_of(script: &str, patience: Duration) -> End {
        let folder = Folder::new();
        let progress = folder.path("progress");
        fs::write(&progress, Tally::default().to_bytes()).unwrap();
        let mut command = Command::new("sh");
        let mut child = command.args(["-c", script]).stderr(Stdio::piped()).spawn().unwrap();
        watch(&mut child, &progress, patience).unwrap()
    }

    #[test]
    fn only_processor_time_makes_a_case_hang() {
        let patience = Duration::from_millis(100);
        assert!(matches!(end_of("sleep 0.5", patience), End::Well));
        assert!(matches!(end_of("while :; do :; done", patience), End::Hang));
    }
}
