//! Random checkpoints of all types and shapes come back, whatever the names, the settings and the
//! threads; rows and slices are those of the whole.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod wcodec_common;

use latens::Limits;
use latens::wcodec::dtype::Dtype;
use latens::wcodec::view::Values;
use latens::wcodec::{Config, Reader, compress_checkpoint};
use proptest::prelude::*;
use wcodec_common::{Random, back, open, safetensors};

/// Types of safetensors files with whole bytes.
fn dtypes() -> Vec<Dtype> {
    let whole = |d: &Dtype| d.id() < 256 && d.bytes(1).is_some();
    Dtype::ALL.iter().copied().filter(whole).collect()
}

/// How bytes of a tensor are distributed.
#[derive(Clone, Copy, Debug)]
enum Fill {
    Noise,
    Constant,
    Small,
    Rows,
    Few,
}

#[derive(Clone, Debug)]
struct Drawn {
    name: String,
    dtype: Dtype,
    shape: Vec<u64>,
    fill: Fill,
    seed: u64,
    /// Its bytes are those of the tensor before, where these are as many.
    same: bool,
}

fn bytes(drawn: &Drawn) -> Vec<u8> {
    let n = drawn.dtype.bytes(drawn.shape.iter().product()).unwrap() as usize;
    let row = drawn.shape.last().map_or(1, |&c| c.max(1) as usize);
    let mut random = Random(drawn.seed);
    let few = [random.word() as u8, 0, 255, random.word() as u8];
    (0..n)
        .map(|i| match drawn.fill {
            Fill::Noise => random.word() as u8,
            Fill::Constant => few[0],
            Fill::Small => random.int8(5.0),
            Fill::Rows => random.int8([1.0, 6.0, 40.0][i / row % 3]),
            Fill::Few => *random.pick(&few),
        })
        .collect()
}

fn tensor() -> impl Strategy<Value = Drawn> {
    let dtype = prop::sample::select(dtypes());
    let shape = prop_oneof![
        Just(vec![]),
        prop::collection::vec(0u64..700, 1),
        prop::collection::vec(0u64..60, 2),
        prop::collection::vec(0u64..14, 3),
        prop::collection::vec(0u64..5, 4..7),
        (1u64..6, 300u64..2000).prop_map(|(r, c)| vec![r, c]),
    ];
    let fill =
        prop::sample::select(vec![Fill::Noise, Fill::Constant, Fill::Small, Fill::Rows, Fill::Few]);
    let name = prop_oneof![
        Just("layer.weight".to_owned()),
        Just("layer.weight_scale".to_owned()),
        Just("layer.qweight".to_owned()),
        Just("layer.qzeros".to_owned()),
        Just("layer.scales".to_owned()),
        Just("layer.weight_packed".to_owned()),
        Just("layer.weight.absmax".to_owned()),
        ".{0,40}",
        "[\\x00-\\x1f\"\\\\/.é😀]{1,9}",
        Just("x".repeat(1024)),
    ];
    (name, dtype, shape, fill, any::<u64>(), any::<bool>()).prop_map(
        |(name, dtype, shape, fill, seed, same)| Drawn { name, dtype, shape, fill, seed, same },
    )
}

fn words(values: &Values) -> Vec<u8> {
    match values {
        Values::Unsigned(bytes) | Values::Words(bytes) => bytes.clone(),
        Values::Signed(bytes) => bytes.iter().map(|b| b.cast_unsigned()).collect(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn random_checkpoints_come_back(
        tensors in prop::collection::vec(tensor(), 0..7),
        level in 0u32..=12,
        group_symbols in prop::sample::select(vec![0usize, 1, 100, 1000]),
        places in any::<[u64; 4]>(),
    ) {
        let mut kept: Vec<(Drawn, Vec<u8>)> = Vec::new();
        for t in tensors {
            if kept.iter().any(|(k, _)| k.name == t.name) || t.name == "__metadata__" {
                continue;
            }
            let mut data = bytes(&t);
            if let Some((_, before)) = kept.last().filter(|(_, b)| t.same && b.len() == data.len()) {
                data.clone_from(before);
            }
            kept.push((t, data));
        }
        let listed: Vec<_> = kept
            .iter()
            .map(|(t, data)| (t.name.as_str(), t.dtype.name(), &t.shape[..], data.clone()))
            .collect();
        let source = safetensors(&listed);
        let checkpoint = open(source.clone());
        let config = Config::default().level(level).group_symbols(group_symbols);
        let one = compress_checkpoint(&checkpoint, None, &config.clone().threads(1), Vec::new()).unwrap();
        for threads in [2, 3] {
            let config = config.clone().threads(threads);
            prop_assert!(compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap() == one);
        }
        prop_assert!(back(&one).unwrap() == source);
        let reader = Reader::open(one, Limits::default()).unwrap();
        for (t, data) in &kept {
            let number = reader.find(&t.name).unwrap();
            prop_assert!(reader.tensor(number).unwrap() == *data, "{t:?}");
            let layout = reader.layout(number).unwrap();
            let all = reader.rows(number, 0..layout.rows).unwrap();
            let within = |a: u64, b: u64, n: u64| {
                let (a, b) = (a % (n + 1), b % (n + 1));
                a.min(b)..a.max(b)
            };
            let rows = within(places[0], places[1], layout.rows);
            let cols = within(places[2], places[3], layout.cols);
            let slice = reader.slice(number, rows.clone(), cols.clone()).unwrap();
            let all = words(&all);
            let width = all.len() / (layout.rows * layout.cols).max(1) as usize;
            let want: Vec<u8> = rows
                .flat_map(|r| {
                    let at = |c: u64| (r * layout.cols + c) as usize * width;
                    all[at(cols.start)..at(cols.end)].to_vec()
                })
                .collect();
            prop_assert!(words(&slice) == want, "{t:?} {layout:?}");
        }
    }
}

/// Names that share long beginnings stand for many bytes; what is written can be read all the same.
#[test]
fn many_long_names_come_back() {
    let beginning = "n".repeat(1000);
    let names: Vec<String> = (0..12_000).map(|i| format!("{beginning}{i:05}")).collect();
    let tensors: Vec<_> =
        names.iter().map(|n| (n.as_str(), "U8", &[1u64][..], vec![n.len() as u8])).collect();
    let source = safetensors(&tensors);
    let checkpoint = open(source.clone());
    let file = compress_checkpoint(&checkpoint, None, &Config::default(), Vec::new()).unwrap();
    assert!(back(&file).unwrap() == source);
}

/// Five groups, of which one thread had encoded four before views were held against each other, and two all.
#[test]
fn threads_do_not_decide_between_views() {
    let drawn = Drawn {
        name: "layer.weight.absmax".to_owned(),
        dtype: Dtype::I32,
        shape: vec![48, 14],
        fill: Fill::Small,
        seed: 737_768_517_401_417_315,
        same: false,
    };
    let data = bytes(&drawn);
    let source = safetensors(&[(&drawn.name, drawn.dtype.name(), &drawn.shape, data)]);
    let checkpoint = open(source);
    for level in [0, 1, 5, 8] {
        let by = |threads: usize| {
            let config = Config::default().level(level).group_symbols(1000).threads(threads);
            compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap()
        };
        let one = by(1);
        assert!([2, 3, 7].into_iter().all(|threads| by(threads) == one), "level {level}");
    }
}
