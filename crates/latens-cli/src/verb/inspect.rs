//! `latens inspect` (stub until the library's inspect lands)
use crate::args;
use crate::message::Result;
pub fn run(_args: &args::Inspect) -> Result<()> {
    Ok(())
}
