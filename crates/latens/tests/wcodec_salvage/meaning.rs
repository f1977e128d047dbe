//! What weights mean is told by other tensors and by metadata, which may be damaged too.

use super::*;
use latens::wcodec::checkpoint::{Checkpoint, Quantization};
use latens::wcodec::view::Layout;

/// Type, shape, bytes and layout.
type Meant = (String, Vec<u64>, Vec<u8>, Layout);

/// Weights of noise, which are stored as bytes: one with `weight_shape`, one with scales, one of which only what stands
/// beside the checkpoint tells.
fn packed() -> (Vec<u8>, HashMap<String, Meant>) {
    let mut random = Random(14);
    let mut noise = |n: usize| (0..n).map(|_| random.next() as u8).collect::<Vec<u8>>();
    let shape = [96u64, 100].iter().flat_map(|n| n.to_le_bytes()).collect();
    let source = safetensors(&[
        ("a.weight_packed", "I32", &[96, 13], noise(96 * 52)),
        ("a.weight_scale", "BF16", &[96, 1], noise(192)),
        ("a.weight_shape", "I64", &[2], shape),
        ("b.qweight", "I32", &[64, 16], noise(4096)),
        ("b.scales", "F16", &[1, 128], noise(256)),
        ("c.qweight", "I32", &[64, 16], noise(4096)),
        ("d", "U8", &[5000], noise(5000)),
    ]);
    let method = Some("awq".to_owned());
    let told = Quantization { bits: Some(4), method, ..Quantization::default() };
    let none = |_: &str| Err(latens::Error::invalid("no shards"));
    let checkpoint =
        Checkpoint::read("m.safetensors".into(), Box::new(source), told, &none).unwrap();
    let config = Config::default().threads(1);
    let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
    let reader = Reader::open(file.clone(), Limits::default()).unwrap();
    let all = reader.tensors().map(|(number, entry)| {
        let (bytes, layout) = (reader.tensor(number).unwrap(), reader.layout(number).unwrap());
        (entry.name, (entry.dtype.to_owned(), entry.shape, bytes, layout))
    });
    let all: HashMap<_, _> = all.collect();
    assert_eq!(
        [100, 128, 128],
        ["a.weight_packed", "b.qweight", "c.qweight"].map(|n| all[n].3.cols)
    );
    (file, all)
}

#[test]
fn what_tensors_mean_is_right_or_an_error() {
    let (file, all) = packed();
    let (index, end) = (index_of(&file), file.len() - 32);
    let mut random = Random(15);
    let (mut right, mut errors) = (0, 0);
    for at in index + 38..end {
        for length in [2, 6, 40, 200] {
            let mut bad = file.clone();
            let stop = (at + length).min(end);
            let mask = [0xff, 15, 3, 0][random.below(4)];
            bad[at..stop].iter_mut().for_each(|b| *b = (random.word() >> 20) as u8 & mask);
            let Ok(found) = salvage(&bad) else { continue };
            let reader = &found.reader;
            for (number, entry) in reader.tensors() {
                let Some((dtype, shape, bytes, layout)) = all.get(&entry.name) else { continue };
                let same = entry.dtype == dtype && entry.shape == *shape;
                if !same || reader.tensor(number).ok().as_ref() != Some(bytes) {
                    continue;
                }
                match reader.layout(number) {
                    Ok(told) => {
                        assert!(told == *layout, "{}, {length} from {at}: {told:?}", entry.name);
                        right += 1;
                    }
                    Err(error) => {
                        let what = error.to_string();
                        assert!(what.contains("what tells how it is packed"), "{what}");
                        assert!(entry.name != "d" || what.contains("d."), "{what}");
                        errors += 1;
                    }
                }
            }
        }
    }
    println!("{right} layouts are right, {errors} are errors");
    assert!(right > 100 && errors > 100, "{right}, {errors}");
}

/// Numbers that no convention packs are told by their type, whatever else is lost.
#[test]
fn what_is_not_packed_needs_no_other_tensor() {
    let mut random = Random(16);
    let mut noise = |n: usize| (0..n).map(|_| random.next() as u8).collect::<Vec<u8>>();
    let names: Vec<String> = (0..400).map(|i| format!("layer.{i}")).collect();
    let types: [(&str, &[u64], usize); 4] = [
        ("BF16", &[600], 1200),
        ("F32", &[20, 15], 1200),
        ("I64", &[150], 1200),
        ("I8", &[1200], 1200),
    ];
    let tensors = names.iter().zip(types.iter().cycle());
    let tensors = tensors.map(|(name, &(dtype, shape, n))| (&name[..], dtype, shape, noise(n)));
    let source = safetensors(&tensors.collect::<Vec<_>>());
    let none = |_: &str| Err(latens::Error::invalid("no shards"));
    let told = Quantization::default();
    let checkpoint =
        Checkpoint::read("m.safetensors".into(), Box::new(source), told, &none).unwrap();
    let config = Config::default().threads(1);
    let mut file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
    let (index, end) = (index_of(&file), file.len() - 32);
    let middle = index + (end - index) / 2;
    file[middle..middle + 3000].fill(0);
    let found = salvage(&file).unwrap();
    let reader = &found.reader;
    let whole = reader.tensors().filter(|(number, _)| reader.tensor(*number).is_ok());
    let whole: Vec<usize> = whole.map(|(number, _)| number).collect();
    assert!(whole.len() > 100, "{}", whole.len());
    for number in whole {
        let rows = reader.layout(number).unwrap().rows;
        reader.rows(number, 0..rows).unwrap();
    }
}
