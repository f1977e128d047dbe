//! The same function for many indices, on some threads; results in order.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::Builder;

/// `f(0), …, f(count - 1)`; what comes out does not depend on `threads`.
pub(crate) fn map<T: Send>(count: usize, threads: usize, f: impl Fn(usize) -> T + Sync) -> Vec<T> {
    map_with(count, threads, || (), |(), i| f(i))
}

/// As [`map`], with something that each thread makes once and uses again.
pub(crate) fn map_with<T: Send, S>(
    count: usize,
    threads: usize,
    make: impl Fn() -> S + Sync,
    f: impl Fn(&mut S, usize) -> T + Sync,
) -> Vec<T> {
    let threads = threads.clamp(1, count.max(1));
    if threads == 1 {
        let mut own = make();
        return (0..count).map(|i| f(&mut own, i)).collect();
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut own = make();
        let mut done = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                return done;
            }
            done.push((i, f(&mut own, i)));
        }
    };
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        // Fewer where the system has no more: `scope.spawn` would panic.
        let spawned = |_| Builder::new().spawn_scoped(scope, work).ok();
        let helpers: Vec<_> = (1..threads).map_while(spawned).collect();
        let mut all = work();
        for helper in helpers {
            match helper.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_unstable_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_come_in_order() {
        for threads in [0, 1, 3, 100] {
            assert_eq!(
                super::map(50, threads, |i| i * i),
                (0..50).map(|i| i * i).collect::<Vec<_>>()
            );
        }
    }
}
