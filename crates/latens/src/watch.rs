//! Who is told of a long call and can end it.

use crate::error::{Error, Result};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What a [`Watch`] is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step<'a> {
    /// What was done since the last step: numbers of Pco and DELTA_BINARY_PACKED, bytes of a
    /// checkpoint. Where it is 0 the question is only whether to go on.
    pub done: u64,
    /// The tensor that is begun with this step. Several may be in work at once.
    pub tensor: Option<&'a str>,
}

/// Is told of each step of a long call, and can end the call: its error is the call's.
///
/// Every call that may take long takes one, [`Watch::NONE`] where nobody watches. Steps come from
/// any of the threads at work, the caller's among them. After an error no thread begins anything
/// new, though others may tell of what they had in hand.
///
/// ```
/// use latens::{Error, Watch, pco};
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
///
/// let numbers: Vec<u32> = (0..100_000).collect();
/// let (done, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
/// let watch = Watch::new({
///     let (done, stop) = (Arc::clone(&done), Arc::clone(&stop));
///     move |step| {
///         done.fetch_add(step.done, Relaxed);
///         if stop.load(Relaxed) { Err(Error::stopped()) } else { Ok(()) }
///     }
/// });
/// let file = pco::compress_with(&numbers, &pco::Config::default(), 0, &watch)?;
/// assert_eq!(done.load(Relaxed), 100_000);
///
/// stop.store(true, Relaxed); // from another thread, a signal handler, a button
/// let error = pco::decompress_with::<u32>(&file, latens::Limits::default(), 0, &watch).unwrap_err();
/// assert!(error.is_stopped());
/// # Ok::<(), latens::Error>(())
/// ```
#[derive(Clone, Default)]
pub struct Watch(Option<Arc<Told>>);

type Told = dyn Fn(Step<'_>) -> Result<()> + Send + Sync;

impl Watch {
    /// Nobody watches.
    pub const NONE: Self = Self(None);

    /// `told` is called with each step.
    pub fn new(told: impl Fn(Step<'_>) -> Result<()> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(told)))
    }

    /// Tells of a step. For readers and writers of your own, in the middle of a call.
    ///
    /// # Errors
    /// That of the function which is told.
    pub fn tell(&self, step: Step<'_>) -> Result<()> {
        self.0.as_ref().map_or(Ok(()), |told| told(step))
    }

    /// For work that is tried in two ways, one after the other: an error of the first try is that of
    /// the second, and what the first one told of is not told again.
    pub(crate) fn for_two_tries(&self) -> (Self, Self) {
        let Some(told) = self.0.clone() else { return (Self::NONE, Self::NONE) };
        let done = Arc::new(AtomicU64::new(0));
        let ended = Arc::new(Mutex::new(None));
        let (known, error, again) = (Arc::clone(&done), Arc::clone(&ended), Arc::clone(&told));
        let first = Self::new(move |step| {
            if ended.lock().unwrap_or_else(PoisonError::into_inner).is_some() {
                return Err(Error::stopped());
            }
            done.fetch_add(step.done, Ordering::Relaxed);
            told(step).map_err(|error| {
                ended.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
                Error::stopped()
            })
        });
        let second = Self::new(move |step| {
            if let Some(error) = error.lock().unwrap_or_else(PoisonError::into_inner).take() {
                return Err(error);
            }
            let before = known.load(Ordering::Relaxed).min(step.done);
            known.fetch_sub(before, Ordering::Relaxed);
            again(Step { done: step.done - before, ..step })
        });
        (first, second)
    }

    /// Tells that so much was done.
    pub(crate) fn done(&self, done: u64) -> Result<()> {
        self.tell(Step { done, tensor: None })
    }

    /// Asks whether to go on.
    pub(crate) fn ask(&self) -> Result<()> {
        self.done(0)
    }

    /// Tells which tensor is begun.
    pub(crate) fn begin(&self, tensor: &str) -> Result<()> {
        self.tell(Step { done: 0, tensor: Some(tensor) })
    }
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Watch" } else { "Watch::NONE" })
    }
}

/// The same function, not one that does the same.
impl PartialEq for Watch {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_watch_is_the_same_as_its_clones_only() {
        let (one, other) = (Watch::new(|_| Ok(())), Watch::new(|_| Ok(())));
        assert_eq!(one, one.clone());
        assert!(one != other && one != Watch::NONE && Watch::NONE == Watch::default());
        assert_eq!(format!("{one:?} {:?}", Watch::NONE), "Watch Watch::NONE");
        assert!(Watch::NONE.ask().is_ok());
    }

    #[test]
    fn a_second_try_knows_of_the_first() {
        let seen = Arc::new(AtomicU64::new(0));
        let own = Arc::clone(&seen);
        let watch =
            Watch::new(move |step| match own.fetch_add(step.done, Ordering::Relaxed) + step.done {
                7 => Err(Error::invalid("seven")),
                _ => Ok(()),
            });
        let (first, second) = watch.for_two_tries();
        assert!(first.done(5).is_ok() && second.done(3).is_ok() && second.done(3).is_ok());
        assert_eq!(seen.load(Ordering::Relaxed), 6);
        assert!(first.done(1).is_err() && first.done(1).is_err());
        // Told once, and that once is enough.
        assert_eq!(seen.load(Ordering::Relaxed), 7);
        assert_eq!(second.done(1).unwrap_err().what(), "seven");
    }
}
