use super::*;
use crate::error::Error;
use crate::pco::{Config, compress, compress_with, decompress_into};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

fn file() -> (Vec<u16>, Vec<u8>) {
    let numbers: Vec<u16> = (0..3000u32).map(|i| (i * i % 977) as u16).collect();
    let config = Config::default().chunk_n(1000);
    let file = compress(&numbers, &config).unwrap();
    assert!(matches!(Chunks::of(&file, 2), Some((Chunks::Listed(_), 2))));
    (numbers, file)
}

#[test]
fn the_same_numbers() {
    let (numbers, file) = file();
    assert!(Chunks::of(&file, 1).is_none());
    let chunks = Chunks::of(&file, 2).unwrap().0;
    assert_eq!(
        decode(&file, NumberType::U16, &chunks, Limits::default(), 2, &Watch::NONE).as_ref(),
        Some(&numbers)
    );
    for threads in [1, 2, 3, 50] {
        let found =
            decompress_with::<u16>(&file, Limits::default(), threads, &Watch::NONE).unwrap();
        assert_eq!(found, numbers);
    }
}

#[test]
fn a_watch_sees_all_numbers_and_can_end_it() {
    let (numbers, file) = file();
    let config = Config::default().chunk_n(1000);
    let limits = Limits::default();
    for threads in [1, 2] {
        let seen = Arc::new(AtomicU64::new(0));
        let own = Arc::clone(&seen);
        let count = Watch::new(move |step| {
            own.fetch_add(step.done, Ordering::Relaxed);
            Ok(())
        });
        assert_eq!(compress_with(&numbers, &config, threads, &count).unwrap(), file);
        assert_eq!(decompress_with::<u16>(&file, limits, threads, &count).unwrap(), numbers);
        let mut room = vec![0u16; 4000];
        let done = decompress_into_with(&file, &mut room, limits, threads, &Watch::NONE);
        assert_eq!(done.unwrap(), Decompressed { count: 3000, finished: true });
        assert_eq!((&room[..3000], &room[3000..]), (&numbers[..], &[0; 1000][..]));
        let done = decompress_into_with(&file, &mut room[..9], limits, threads, &count);
        assert_eq!(done.unwrap(), Decompressed { count: 9, finished: false });
        assert_eq!(seen.load(Ordering::Relaxed), 6009);
        let stop = Watch::new(|_| Err(Error::invalid("enough")));
        for error in [
            compress_with(&numbers, &config, threads, &stop).unwrap_err(),
            decompress_with::<u16>(&file, limits, threads, &stop).unwrap_err(),
            decompress_into_with(&file, &mut room[..3000], limits, threads, &stop).unwrap_err(),
        ] {
            assert_eq!(error.what(), "enough");
        }
    }
}

/// What ends the work of many threads is not begun again on one.
#[test]
fn a_watch_need_not_say_it_twice() {
    let (_, file) = file();
    for into in [false, true] {
        let told = Arc::new(AtomicUsize::new(0));
        let own = Arc::clone(&told);
        let once = Watch::new(move |_| match own.fetch_add(1, Ordering::Relaxed) {
            0 => Err(Error::stopped()),
            _ => Ok(()),
        });
        let (limits, mut room) = (Limits::default(), [0u16; 3000]);
        let error = match into {
            true => decompress_into_with(&file, &mut room, limits, 2, &once).unwrap_err(),
            false => decompress_with::<u16>(&file, limits, 2, &once).unwrap_err(),
        };
        // The other thread may be about to tell it of a chunk, too.
        assert!(error.is_stopped() && told.load(Ordering::Relaxed) <= 2, "{error}");
    }
}

#[test]
fn the_same_errors() {
    let (_, mut file) = file();
    let limits = Limits::default();
    let wrong = decompress_with::<u32>(&file, limits, 2, &Watch::NONE).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        decompress_with::<u32>(&file, limits, 1, &Watch::NONE).unwrap_err().to_string()
    );
    let tight = Limits::default().max_output(5999);
    let wrong = decompress_with::<u16>(&file, tight, 2, &Watch::NONE).unwrap_err();
    assert_eq!(
        wrong.to_string(),
        decompress_with::<u16>(&file, tight, 1, &Watch::NONE).unwrap_err().to_string()
    );
    for byte in 0..file.len() {
        file[byte] ^= 1 << (byte % 8);
        let expected =
            decompress_with::<u16>(&file, limits, 1, &Watch::NONE).map_err(|e| e.to_string());
        let found =
            decompress_with::<u16>(&file, limits, 2, &Watch::NONE).map_err(|e| e.to_string());
        assert_eq!(found, expected, "byte {byte}");
        assert!(expected.is_err());
        file[byte] ^= 1 << (byte % 8);
    }
    for len in 0..file.len() {
        let expected = decompress_with::<u16>(&file[..len], limits, 1, &Watch::NONE)
            .map_err(|e| e.to_string());
        let found =
            decompress_with(&file[..len], limits, 2, &Watch::NONE).map_err(|e| e.to_string());
        assert_eq!(found, expected, "cut to {len}");
    }
}

/// What is written to the caller's buffer in spite of an error is what one thread writes.
#[test]
fn after_an_error_the_buffer_is_that_of_one_thread() {
    let (numbers, listed) = file();
    let walked = compress(&numbers, &Config::default().chunk_n(700).checksum(false)).unwrap();
    let limits = Limits::default();
    for mut file in [listed, walked] {
        let both = |file: &[u8], what: String| {
            let (mut one, mut many) = (vec![7u16; 3100], vec![7u16; 3100]);
            let expected = decompress_into(file, &mut one);
            for threads in [2, 4] {
                many.fill(7);
                let found = decompress_into_with(file, &mut many, limits, threads, &Watch::NONE);
                assert_eq!(one, many, "{what}");
                match (&expected, found) {
                    (Ok(expected), Ok(found)) => assert_eq!(*expected, found, "{what}"),
                    (Err(expected), Err(found)) => {
                        assert_eq!(expected.to_string(), found.to_string(), "{what}");
                        assert_eq!(expected.values_before(), found.values_before(), "{what}");
                    }
                    other => panic!("{what}: {other:?}"),
                }
            }
        };
        for byte in 0..file.len() {
            file[byte] ^= 1 << (byte % 8);
            both(&file, format!("byte {byte}"));
            file[byte] ^= 1 << (byte % 8);
        }
        for len in (0..file.len()).step_by(3) {
            both(&file[..len], format!("cut to {len}"));
        }
    }
}
