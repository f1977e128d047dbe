use super::*;
use crate::number::f16;
use crate::pco::{DeltaSpec, ModeSpec};

#[test]
fn few_numbers_take_little_memory() {
    for (announced, n) in [(10, 10), (3000, 3000), (4, 10), (0, 10), (10, 4)] {
        let config = Config::default();
        let mut encoder = Encoder::new(Vec::new(), u64::TYPE, announced, &config).unwrap();
        let numbers: Vec<u64> = (0..n).collect();
        encoder.write_chunk(&numbers).unwrap();
        let found = decompress::<u64>(&encoder.finish().unwrap()).unwrap();
        assert_eq!(found, numbers);
        if announced == n {
            assert_eq!(found.capacity(), found.len());
        }
    }
}

fn engine(file: &[u8]) -> Result<Engine<Slice<'_>>> {
    Ok(Engine::new(Slice::starting_at(file, 0), Limits::default())?.without_checks())
}

/// By decoding all of them.
fn read<T: Number>(file: &[u8]) -> Result<u64> {
    let (mut engine, mut n) = (engine(file)?, 0);
    let mut buffer = [T::default(); 100];
    loop {
        match engine.read(&mut buffer)? as u64 {
            0 => return Ok(n),
            got => n += got,
        }
    }
}

/// Files with each of their bytes changed are counted as they are read, errors and all.
fn check<T: Number>(modes: &[ModeSpec], number: fn(u16) -> T) -> Result<[usize; 2]> {
    let numbers: Vec<T> = (0..600).map(|i| number(i % 7 * 10 + i / 100)).collect();
    let lookback = DeltaSpec::Lookback { window_log: Some(4), state_log: 2, secondary: true };
    let consecutive = DeltaSpec::Consecutive { order: 1, secondary: true };
    let mut seen = [0; 2];
    for mode in modes {
        for delta in [DeltaSpec::None, consecutive, lookback, DeltaSpec::Conv1 { order: 6 }] {
            if T::TYPE.bits() == 64 && matches!(delta, DeltaSpec::Conv1 { .. }) {
                continue;
            }
            let config = Config::default().mode(*mode).delta(delta).checksum(false);
            let sound = compress(&numbers, &config)?;
            for at in 0..sound.len() {
                for change in [1, 0x10, 0x80, 0xff] {
                    let mut file = sound.clone();
                    file[at] ^= change;
                    let read = read::<T>(&file).map_err(|e| e.to_string());
                    let counted = engine(&file).and_then(|mut e| e.count(T::TYPE));
                    let counted = counted.map_err(|e| e.to_string());
                    assert_eq!(counted, read, "{mode} {delta} byte {at} changed by {change}");
                    seen[usize::from(read.is_ok())] += 1;
                }
            }
        }
    }
    Ok(seen)
}

#[test]
fn files_are_counted_as_they_are_read() -> Result<()> {
    let integers = [ModeSpec::Classic, ModeSpec::IntMult(10), ModeSpec::Dict];
    let floats =
        [ModeSpec::Classic, ModeSpec::FloatMult(0.5), ModeSpec::FloatQuant(4), ModeSpec::Dict];
    let seen = [
        check::<u8>(&integers, |x| x.to_le_bytes()[0])?,
        check::<i64>(&integers, i64::from)?,
        check::<f16>(&floats, |x| f16::from_f32(f32::from(x) / 2.0))?,
        check::<f32>(&floats, |x| f32::from(x) / 2.0)?,
    ];
    println!("errors and answers: {seen:?}");
    assert!(seen.as_flattened().iter().all(|&n| n > 100));
    Ok(())
}
