//! What `compress` may be told of a checkpoint that its files do not tell.

use clap::Args;
use latens::wcodec::Config;
use latens::wcodec::view::PackingChoice;

/// How tensors are packed, and how much of one is decoded together.
#[derive(Debug, Args)]
#[command(next_help_heading = "Checkpoints")]
pub struct Packings {
    /// How tensors of these names are packed (* stands for any text), in place of what is detected: none, int4, uint4
    /// or int4-offset, with -high where the higher nibble comes first, then -in-32 for that of words of 32 bits. The
    /// last one of a tensor counts
    #[arg(long = "packing", value_name = "PATTERN=KIND", value_parser = packing)]
    pub packings: Vec<(String, PackingChoice)>,
    /// Weights that are decoded together at least, 1 to 2^32 - 1 [default: by the tensor and the level]
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = |text: &str| super::shared::within(text, 1, u32::MAX))]
    pub group_symbols: Option<u32>,
}

impl Packings {
    /// Names of options, and whether they are given.
    pub fn given(&self) -> [(&'static str, bool); 2] {
        [
            ("--packing", !self.packings.is_empty()),
            ("--group-symbols", self.group_symbols.is_some()),
        ]
    }

    /// The settings with these.
    pub fn config(&self, config: Config) -> Config {
        let symbols = self.group_symbols.and_then(|n| usize::try_from(n).ok());
        let config = config.group_symbols(symbols.unwrap_or(0));
        let packings = self.packings.iter();
        packings.fold(config, |config, (pattern, choice)| config.packing(pattern, *choice))
    }
}

/// Names may hold `=`, packings do not.
fn packing(text: &str) -> Result<(String, PackingChoice), String> {
    let (pattern, kind) =
        text.rsplit_once('=').ok_or("this takes PATTERN=KIND, as '*.weight=int4-high'")?;
    Ok((pattern.to_owned(), super::shared::parse(kind)?))
}
