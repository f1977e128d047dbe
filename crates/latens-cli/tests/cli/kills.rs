//! Ends at any time: the final name holds a whole file or none.

use crate::tool::{Folder, column};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Numbers of a file that takes some milliseconds.
const NUMBERS: usize = 150_000;

struct Job {
    f: Folder,
    whole: Vec<u8>,
    source: Vec<u8>,
    /// How long it takes when nothing comes between.
    takes: Duration,
}

impl Job {
    fn new() -> Self {
        let f = Folder::new();
        f.write("a.npy", &column(NUMBERS));
        let started = Instant::now();
        f.run(&["compress", "-q", "a.npy"]).ok();
        let (takes, source) = (started.elapsed(), f.read("a.npy"));
        let whole = f.read("a.pco");
        std::fs::remove_file(f.path("a.pco")).unwrap();
        Job { f, whole, source, takes }
    }

    fn start(&self) -> Child {
        let mut command = self.f.latens(&["compress", "-q", "a.npy", "-f"]);
        command.stderr(Stdio::null()).spawn().unwrap()
    }

    /// Some part of the time it takes, and a little more.
    fn wait(&self, round: u32) {
        let part = round.wrapping_mul(2_654_435_761) % 1100;
        std::thread::sleep(self.takes * part / 1000);
    }

    /// Whether there is an output, which is whole then.
    fn output(&self, what: &str) -> bool {
        assert!(self.f.read("a.npy") == self.source, "{what}: another input");
        match std::fs::read(self.f.path("a.pco")) {
            Ok(bytes) => {
                assert!(bytes == self.whole, "{what}: a part under the final name");
                std::fs::remove_file(self.f.path("a.pco")).unwrap();
                true
            }
            Err(_) => false,
        }
    }
}

#[test]
fn three_hundred_kills() {
    let job = Job::new();
    let mut outputs = 0;
    for round in 0..300 {
        let mut child = job.start();
        job.wait(round);
        child.kill().unwrap();
        child.wait().unwrap();
        outputs += u32::from(job.output(&format!("kill {round}")));
        // Nobody can remove the temporary file of one that was killed; it is in nobody's way.
        let is_temporary = |name: &&String| name.starts_with(".latens-") && name.ends_with(".tmp");
        for name in job.f.names().iter().filter(is_temporary) {
            std::fs::remove_file(job.f.path(name)).unwrap();
        }
        assert_eq!(job.f.names(), ["a.npy"]);
    }
    println!("300 kills, {outputs} after the end");
    assert!(outputs < 300);
}

#[test]
fn a_hundred_signals_leave_nothing() {
    let job = Job::new();
    let mut ended = 0;
    for round in 0..100 {
        let (name, number) = [("-TERM", 15), ("-INT", 2), ("-HUP", 1)][round as usize % 3];
        let mut child = job.start();
        job.wait(round);
        let id = child.id().to_string();
        std::process::Command::new("kill")
            .args([name, &id])
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let status = child.wait().unwrap();
        let by_signal = status.signal() == Some(number);
        assert!(by_signal || status.success(), "{name}: {status:?}");
        ended += u32::from(by_signal);
        let _ = job.output(name);
        assert_eq!(job.f.names(), ["a.npy"], "{name} in round {round}");
    }
    println!("100 signals, {ended} before the end");
    assert!(ended > 0);
}

/// Two at a time: each that says it went well has written the whole file.
#[test]
fn two_processes_and_one_output() {
    let job = Job::new();
    for round in 0..20 {
        let args: &[&str] = match round % 2 {
            0 => &["compress", "-q", "a.npy"],
            _ => &["compress", "-q", "a.npy", "-f"],
        };
        let start = || job.f.latens(args).stderr(Stdio::null()).spawn().unwrap();
        let (mut one, mut two) = (start(), start());
        let well =
            [one.wait().unwrap(), two.wait().unwrap()].iter().filter(|s| s.success()).count();
        // Without -f what is there is kept: one of them comes too late.
        assert_eq!(well, 1 + round % 2, "round {round}");
        assert!(job.output(&format!("round {round}")), "round {round}");
        assert_eq!(job.f.names(), ["a.npy"]);
    }
}
