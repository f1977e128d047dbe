//! Sizes of checkpoints as WCodec, in per cent of the files: `wcodec_sizes [-l LEVEL] FILE…`.

use latens::wcodec::checkpoint::Checkpoint;
use latens::wcodec::{Config, Reader, compress_checkpoint};
use latens::{Error, Limits};
use std::path::Path;
use std::time::Instant;

fn main() -> latens::Result<()> {
    let mut config = Config::default();
    let mut arguments = std::env::args().skip(1);
    println!("file,bytes,wcodec,per_cent,seconds");
    while let Some(argument) = arguments.next() {
        if argument == "-l" {
            let level = arguments.next().and_then(|l| l.parse().ok()).unwrap_or(8);
            config = config.level(level);
            continue;
        }
        let path = Path::new(&argument);
        let checkpoint = Checkpoint::open(path)?;
        let bytes: u64 = checkpoint.files.iter().map(|f| f.len).sum();
        let start = Instant::now();
        let out = compress_checkpoint(&checkpoint, None, &config, Vec::new())?;
        let seconds = start.elapsed().as_secs_f64();
        check(&checkpoint, out.clone())?;
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let per_cent = out.len() as f64 * 100.0 / bytes as f64;
        println!("{name},{bytes},{},{per_cent:.3},{seconds:.2}", out.len());
    }
    Ok(())
}

/// The files must come back byte for byte, and everything in the file be sound.
fn check(checkpoint: &Checkpoint, file: Vec<u8>) -> latens::Result<()> {
    let reader = Reader::open(file, Limits::default())?;
    reader.verify()?;
    for (number, source) in checkpoint.files.iter().enumerate() {
        let mut back = Vec::new();
        reader.write_file(number, &mut back)?;
        let mut bytes = vec![0; back.len()];
        checkpoint.read_at(number, 0, &mut bytes)?;
        if back.len() as u64 != source.len || back != bytes {
            return Err(Error::invalid(format!("{} does not come back", source.name)));
        }
    }
    Ok(())
}
