//! Which rows are null, as lengths of runs: valid, null, valid, …, the first may be 0.
//!
//! Scattered nulls cost what they would as bits, clustered ones next to nothing.

use crate::message::{Failure, Result};
use std::collections::VecDeque;

use super::decode::NumberReader;

/// Turns rows into run lengths.
#[derive(Debug, Default)]
pub(super) struct Runs {
    finished: Vec<u64>,
    /// Length and kind of the run that goes on.
    length: u64,
    null: bool,
    pub(super) nulls: u64,
}

impl Runs {
    /// Take rows; `None`: all of them valid.
    pub(super) fn push(&mut self, rows: usize, valid: Option<&[bool]>) {
        let Some(valid) = valid else {
            return self.extend(false, rows as u64);
        };
        for run in valid.chunk_by(|a, b| a == b) {
            self.extend(run.first() == Some(&false), run.len() as u64);
        }
    }

    fn extend(&mut self, null: bool, rows: u64) {
        if rows == 0 {
            return;
        }
        if null != self.null {
            self.finished.push(std::mem::take(&mut self.length));
            self.null = null;
        }
        self.length += rows;
        self.nulls += if null { rows } else { 0 };
    }

    /// Runs that are complete; they are handed out once.
    pub(super) fn take(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.finished)
    }

    /// The run that was going on.
    pub(super) fn last(&self) -> u64 {
        self.length
    }
}

/// Turns run lengths into rows.
pub(super) struct ValidityReader {
    runs: NumberReader<u64>,
    ahead: VecDeque<u64>,
    left: u64,
    null: bool,
    first: bool,
}

impl ValidityReader {
    pub(super) fn new(runs: NumberReader<u64>) -> Self {
        ValidityReader { runs, ahead: VecDeque::new(), left: 0, null: true, first: true }
    }

    /// The next `rows` rows.
    pub(super) fn next(&mut self, rows: usize) -> Result<Vec<bool>> {
        let mut valid = Vec::with_capacity(rows);
        while valid.len() < rows {
            if self.left == 0 {
                self.left = self.next_run()?;
                self.null = !self.null;
                if self.left == 0 && !std::mem::take(&mut self.first) {
                    return Err(Failure::new("corrupt: a run of no rows"));
                }
                self.first = false;
                continue;
            }
            let room = rows - valid.len();
            let take = usize::try_from(self.left).map_or(room, |left| left.min(room));
            valid.resize(valid.len() + take, !self.null);
            self.left -= take as u64;
        }
        Ok(valid)
    }

    fn next_run(&mut self) -> Result<u64> {
        if self.ahead.is_empty() {
            self.ahead.extend(self.runs.some(1 << 12)?);
        }
        self.ahead.pop_front().ok_or_else(|| Failure::new("corrupt: the runs end before the rows"))
    }

    /// After the last row: nothing may be left.
    pub(super) fn finish(&mut self) -> Result<()> {
        if self.left > 0 || !self.ahead.is_empty() {
            return Err(Failure::new("corrupt: the runs go on after the rows"));
        }
        self.runs.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_to_runs() {
        let mut runs = Runs::default();
        runs.push(2, None);
        runs.push(4, Some(&[true, false, false, true]));
        runs.push(3, None);
        runs.push(1, Some(&[false]));
        assert_eq!(runs.take(), [3, 2, 4]);
        assert_eq!((runs.last(), runs.nulls), (1, 3));
        let mut all_null = Runs::default();
        all_null.push(2, Some(&[false, false]));
        assert_eq!((all_null.take(), all_null.last()), (vec![0], 2));
    }
}
