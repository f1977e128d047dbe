//! Sizes of checkpoints as WCodec, in per cent of the files: `wcodec_sizes [-l LEVEL] FILE…`.

use cpu_time::ThreadTime;
use latens::wcodec::checkpoint::{Checkpoint, ReadAt};
use latens::wcodec::{Config, Reader, compress_checkpoint};
use latens::{Error, Limits};
use std::path::Path;

fn main() -> latens::Result<()> {
    let mut config = Config::default().threads(1);
    let mut verbose = false;
    let mut arguments = std::env::args().skip(1);
    println!("file,bytes,wcodec,per_cent,encode_mbs,decode_mbs");
    while let Some(argument) = arguments.next() {
        if argument == "-l" {
            let level = arguments.next().and_then(|l| l.parse().ok()).unwrap_or(8);
            config = config.level(level);
            continue;
        }
        if argument == "-v" {
            verbose = true;
            continue;
        }
        let path = Path::new(&argument);
        let checkpoint = Checkpoint::open(path)?;
        let bytes: u64 = checkpoint.files.iter().map(|f| f.len).sum();
        let start = ThreadTime::now();
        let out = compress_checkpoint(&checkpoint, None, &config, Vec::new())?;
        let encode = start.elapsed().as_secs_f64();
        let reader = Reader::open(out.clone(), Limits::default())?.threads(1);
        let start = ThreadTime::now();
        for (number, _) in reader.tensors() {
            std::hint::black_box(reader.tensor(number)?);
        }
        let decode = start.elapsed().as_secs_f64();
        if verbose {
            tensors(&reader)?;
        }
        check(&checkpoint, out.clone())?;
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let per_cent = out.len() as f64 * 100.0 / bytes as f64;
        let speed = |seconds: f64| bytes as f64 / 1e6 / seconds.max(1e-9);
        let (encode, decode) = (speed(encode), speed(decode));
        println!("{name},{bytes},{},{per_cent:.3},{encode:.0},{decode:.0}", out.len());
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

/// A line for each tensor of 64 Ki bytes or more.
fn tensors<S: ReadAt>(reader: &Reader<S>) -> latens::Result<()> {
    let large = reader.tensors().filter(|(_, t)| t.length >= 1 << 16);
    for number in large.map(|(number, _)| number).collect::<Vec<_>>() {
        let t = reader.inspect(number)?;
        println!(
            "{} {} {:?} {} {:.4} b, order 0 {:.4} b",
            t.name,
            t.dtype,
            t.shape,
            t.packing,
            t.bits_per_weight(),
            t.order0_entropy.unwrap_or(f64::NAN)
        );
        for p in &t.parts {
            let (codec, terms, predictors) = (p.codec, &p.terms, &p.predictors);
            println!(
                "    {:?} {codec} {} bytes of {}, {} groups, {} classes by {terms:?}, {predictors:?}",
                p.role, p.bytes, p.elements, p.groups, p.classes
            );
        }
    }
    Ok(())
}
