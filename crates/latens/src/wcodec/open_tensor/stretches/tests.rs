use super::*;
use crate::Limits;
use crate::error::Error;
use crate::wcodec::dtype::Dtype;
use crate::wcodec::layout::entry::Storage;
use crate::wcodec::reader::Reader;
use crate::wcodec::view::BlockKind;
use crate::wcodec::{Base, BaseCheckpoint, BaseFile, Config, compress_checkpoint, made};

/// Blocks of all kinds, and floats that go as planes, each with its bytes.
fn sources() -> [Vec<u8>; 2] {
    let mut state = 7u32;
    let mut noise = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u8::try_from((state >> 9) % below).unwrap()
    };
    let blocks = made::gguf(&BlockKind::ALL.map(|kind| (kind, [512, 37])), |_| noise(6) * 17);
    let floats = [
        ("a", "F16", "[301,7]", 301 * 14),
        ("b", "F32", "[90,50]", 90 * 200),
        ("c", "F64", "[1,700]", 5600),
        ("d", "BF16", "[64,64]", 8192),
        ("e", "BF16", "[999,7]", 999 * 14),
    ];
    let floats = made::safetensors(&floats, |_, _, i| {
        let n = noise(if i % 2 == 1 { 3 } else { 250 });
        usize::from(n)
    });
    [blocks, floats]
}

fn file(source: &[u8], group: usize) -> Vec<u8> {
    let config = Config::default().threads(1).group_symbols(group);
    compress_checkpoint(&made::checkpoint(source.to_vec()), None, &config, Vec::new()).unwrap()
}

fn open(file: Vec<u8>, threads: usize) -> Reader<Vec<u8>> {
    Reader::open(file, Limits::default()).unwrap().threads(threads)
}

#[test]
fn stretches_are_the_tensor() {
    let (mut several, mut whole, mut across, mut in_place) = (0, 0, 0, 0);
    for (source, group) in sources().iter().flat_map(|s| [256, 700, 4096, 1 << 18].map(|g| (s, g)))
    {
        let file = file(source, group);
        for threads in [1, 3] {
            let reader = open(file.clone(), threads);
            let mut written = Vec::new();
            reader.write_file(0, &mut written).unwrap();
            assert!(written == *source, "groups of {group}");
            for (number, _) in reader.tensors() {
                let tensor = OpenTensor::open(&reader, number).unwrap();
                let Some(stretches) = tensor.stretches().unwrap() else { continue };
                several += usize::from(stretches.len() > 1);
                let is_whole = |part: &OfPart| matches!(part.plane, Plane::Whole(_));
                whole += usize::from(stretches.parts.iter().any(is_whole));
                let is_across = |part: &OfPart| matches!(part.plane, Plane::Across(_));
                across += usize::from(stretches.parts.iter().any(is_across));
                in_place += usize::from(stretches.in_place().is_some());
                assert_eq!(
                    (0..stretches.len())
                        .map(|i| stretches.bytes(stretches.range(i).len()))
                        .sum::<usize>(),
                    tensor.entry.length
                );
                let joined = tensor.joined().unwrap();
                let mut out = vec![0xa5; joined.len()];
                tensor.join_into(&stretches, &mut out).unwrap();
                assert!(out == joined, "groups of {group}");
            }
        }
    }
    assert!(several > 40 && whole > 20 && across >= 2, "{several} {whole} {across}");
    assert!(in_place >= 6, "{in_place}");
}

/// Of a group that is damaged, what is before its stretch is as it should be, and what follows as it was; its stretch
/// is that, too, but where symbols go where they belong.
#[test]
fn damage_is_told_of_with_what_came_before() {
    let mut seen = 0;
    for source in sources() {
        let sound = file(&source, 256);
        let reader = open(sound.clone(), 1);
        for (number, _) in reader.tensors() {
            let tensor = OpenTensor::open(&reader, number).unwrap();
            let Some(stretches) = tensor.stretches().unwrap() else { continue };
            let bytes = tensor.joined().unwrap();
            let last = tensor.places.last().unwrap();
            let group = last.len() / 2;
            let place = usize::try_from(last[group]).unwrap();
            let mut damaged = sound.clone();
            damaged[place] ^= 1;
            for threads in [1, 3] {
                let reader = open(damaged.clone(), threads);
                let mut out = vec![0xa5; bytes.len()];
                let error = reader.tensor_into(number, &mut out).unwrap_err();
                assert_eq!(error.at(), Some(place as u64), "{error}");
                let changed = usize::try_from(error.values_before().unwrap_or(0)).unwrap();
                assert!(out[changed..].iter().all(|&byte| byte == 0xa5));
                if threads == 1 {
                    let own = stretches.in_place().map_or(0, |_| stretches.bytes(stretches.step));
                    let sound = changed.saturating_sub(own);
                    assert!(out[..sound] == bytes[..sound]);
                    assert!(changed > 0 || stretches.len() < 3);
                }
                seen += 1;
            }
        }
    }
    assert!(seen >= 16, "{seen}");
}

/// Whatever is damaged, and wherever, by whichever threads: what is said to be right is, and what is not said to
/// have changed has not.
#[test]
fn what_is_right_is_told_however_many_threads() {
    let packed =
        [("w.weight_packed", "I32", "[64,16]", 4096), ("w.weight_scale", "F16", "[64,1]", 128)];
    let [blocks, floats] = sources();
    let mut state = 5u32;
    let mut random = |below: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        usize::try_from(state >> 9).unwrap() % below
    };
    let packed = made::safetensors(&packed, |_, _, _| random(256));
    let (mut some, mut apart, mut ended) = (0, 0, 0);
    for source in [blocks, floats, packed] {
        let sound = file(&source, 256);
        let reader = open(sound.clone(), 1);
        for (number, _) in reader.tensors() {
            let tensor = OpenTensor::open(&reader, number).unwrap();
            let bytes = tensor.joined().unwrap();
            let places: Vec<u64> = tensor.places.iter().flatten().copied().collect();
            if !matches!(tensor.storage, Storage::Stored { .. }) || places.is_empty() {
                continue;
            }
            for (count, threads) in [1, 2, 4].into_iter().flat_map(|n| [1, 2, 5].map(|t| (n, t))) {
                let mut damaged = sound.clone();
                for _ in 0..count {
                    let place = places[random(places.len())];
                    damaged[usize::try_from(place).unwrap()] ^= 1 << random(8);
                }
                let reader = open(damaged, threads);
                let mut out: Vec<u8> = bytes.iter().map(|byte| byte ^ 0xa5).collect();
                // The same bit twice is no damage.
                let Err(error) = reader.tensor_into(number, &mut out) else { continue };
                let told = |n: Option<u64>| usize::try_from(n.unwrap_or(0)).unwrap();
                let (right, changed) = (told(error.values_right()), told(error.values_before()));
                assert_eq!(error.values_right().is_some(), error.values_before().is_some());
                assert!(right <= changed, "{right} {changed}");
                assert!(out[..right] == bytes[..right], "{error}");
                assert!(out[changed..].iter().zip(&bytes[changed..]).all(|(a, b)| a ^ 0xa5 == *b));
                some += usize::from(right > 0);
                apart += usize::from(right < changed);
            }
            // Where somebody ends the call behind all of it, all of it is right.
            let stop = crate::Watch::new(|step| match step.done {
                0 => Ok(()),
                _ => Err(Error::stopped()),
            });
            let mut out = vec![0xa5; bytes.len()];
            let error = reader.watched(&stop).tensor_into(number, &mut out).unwrap_err();
            let told = |n: Option<u64>| usize::try_from(n.unwrap_or(0)).unwrap();
            let (right, changed) = (told(error.values_right()), told(error.values_before()));
            assert!(out[..right] == bytes[..right] && right <= changed);
            assert!(out[changed..].iter().all(|&byte| byte == 0xa5), "{error}");
            ended += 1;
        }
    }
    assert!(some > 40 && apart > 2 && ended > 10, "{some} {apart} {ended}");
}

/// A file that tells where it was read from.
struct Told(Vec<u8>, std::sync::Mutex<Vec<u64>>);

impl ReadAt for Told {
    fn size(&self) -> std::io::Result<u64> {
        self.0.size()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.1.lock().unwrap().push(offset);
        self.0.read_exact_at(buf, offset)
    }
}

/// Scales of blocks that are too many to be kept for the next call are decoded once to explain weights, and once for
/// themselves, however many stretches there are.
#[test]
fn what_explains_a_part_is_decoded_once() {
    let mut state = 7u32;
    let source = made::gguf(&[(BlockKind::Q8_0, [4096, 64])], |i| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let noise = u8::try_from(state >> 24).unwrap();
        let size = u8::try_from(i / 34 * 7 % 5).unwrap();
        match i % 34 {
            0 => noise,
            1 => 0x1c + 4 * size,
            _ => noise >> (5 - size),
        }
    });
    let file = file(&source, 4096);
    for threads in [1, 2] {
        let told = Told(file.clone(), std::sync::Mutex::default());
        let reader = Reader::open(told, Limits::default()).unwrap().threads(threads);
        let (number, _) = reader.tensors().next().unwrap();
        let tensor = OpenTensor::open_once(&reader, number).unwrap();
        let [scales, weights] = &tensor.descriptor.parts[..] else { panic!("of two parts") };
        assert!(scales.role == crate::wcodec::plane::Role::Scale && weights.sources() == 1);
        let stretches = tensor.stretches().unwrap().unwrap();
        assert!(stretches.len() > 4);
        assert!(
            tensor.needs.iter().any(|needs| needs.rules.get().is_some()),
            "small enough to be kept"
        );
        reader.open.source.source.1.lock().unwrap().clear();
        let mut written = Vec::new();
        reader.write_file(0, &mut written).unwrap();
        assert!(written == source);
        let reads = reader.open.source.source.1.lock().unwrap();
        for place in &tensor.places[0] {
            let times = reads.iter().filter(|at| *at == place).count();
            assert!(times <= 2, "scales were read {times} times");
        }
    }
}

/// A base that counts what is asked of it.
struct Counted(BaseCheckpoint, std::sync::Arc<std::sync::atomic::AtomicUsize>);

impl Base for Counted {
    fn model_hash(&self) -> [u8; 32] {
        self.0.model_hash()
    }

    fn tensor(&self, name: &str) -> crate::Result<(Dtype, Vec<u64>, Vec<u8>)> {
        self.1.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        self.0.tensor(name)
    }

    fn about(&self, name: &str) -> Option<crate::wcodec::BaseTensor> {
        self.0.about(name)
    }
}

/// What a tensor is predicted from is read once, however many pieces there are.
#[test]
fn a_reference_is_decoded_once() {
    let tensors = [("bytes", "I8", "[128,64]", 8192), ("more", "U8", "[64,128]", 8192)];
    let mut state = 3u32;
    let mut noise = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        usize::try_from(state >> 9).unwrap()
    };
    let before = made::safetensors(&tensors, |_, _, _| noise() % 256);
    let mut after = before.clone();
    for _ in 0..200 {
        let at = after.len() - 1 - noise() % 12_000;
        after[at] ^= 1;
    }
    let base = || BaseCheckpoint::new(made::checkpoint(before.clone())).unwrap();
    let held = base();
    let against = BaseFile { base: &held, name: "before" };
    let config = Config::default().threads(1).group_symbols(1024);
    let file =
        compress_checkpoint(&made::checkpoint(after.clone()), Some(against), &config, Vec::new());
    let file = file.unwrap();
    assert!(file.len() < before.len() / 4, "{}", file.len());
    for threads in [1, 2] {
        let asked = std::sync::Arc::default();
        let counted = Counted(base(), std::sync::Arc::clone(&asked));
        let reader = open(file.clone(), threads).with_base(Box::new(counted)).unwrap();
        let mut parts = 0;
        for (number, _) in reader.tensors() {
            let tensor = OpenTensor::open_once(&reader, number).unwrap();
            let pieces = tensor.pieces().unwrap().unwrap();
            assert!(pieces.len() > 1, "{}", pieces.len());
            parts += tensor.descriptor.parts.len();
        }
        asked.store(0, std::sync::atomic::Ordering::Relaxed);
        let mut written = Vec::new();
        reader.write_file(0, &mut written).unwrap();
        assert!(written == after);
        let times = || asked.load(std::sync::atomic::Ordering::Relaxed);
        assert!((1..=parts).contains(&times()), "{} times for {parts} parts", times());
        reader.verify().unwrap();
        // Nor for every slice.
        asked.store(0, std::sync::atomic::Ordering::Relaxed);
        for row in 0..60 {
            reader.rows(0, row..row + 2).unwrap();
        }
        assert_eq!(times(), 1);
    }
}
