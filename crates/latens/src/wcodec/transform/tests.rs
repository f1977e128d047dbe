use super::*;
use crate::wcodec::predictor::tests::noise;

fn exact(block: &Block) {
    for transform in Transform::ALL {
        let mut there = *block;
        transform.forward(&mut there);
        let mut back = there;
        transform.inverse(&mut back);
        assert_eq!(back, *block, "{transform:?}");
    }
}

/// A number of −m … m.
fn within(x: u64, m: i16) -> i16 {
    let span = 2 * u64::from(m.unsigned_abs()) + 1;
    i16::try_from(x % span).unwrap() - m
}

#[test]
fn blocks_come_back_whatever_they_hold() {
    let mut next = noise(11);
    for m in [1, 7, 127, 255, 2047] {
        exact(&[m; 64]);
        exact(&[-m; 64]);
        for place in 0..64 {
            let mut one = [0; 64];
            one[place] = m;
            exact(&one);
            exact(&one.map(|x| -x));
        }
        for _ in 0..2000 {
            exact(&std::array::from_fn(|_| within(next() >> 8, m)));
            exact(&std::array::from_fn(|_| if next() >> 63 == 0 { m } else { -m }));
        }
    }
}

/// The matrix of each transform.
fn matrix(transform: Transform) -> [[f64; 8]; 8] {
    use std::f64::consts::PI;
    std::array::from_fn(|k| {
        std::array::from_fn(|n| {
            let (k, n) = (k as f64, n as f64);
            match transform {
                Transform::Dct if k == 0.0 => 0.125f64.sqrt(),
                Transform::Dct => 0.5 * (PI * (2.0 * n + 1.0) * k / 16.0).cos(),
                Transform::Adst => 0.5 * (PI * (2.0 * n + 1.0) * (2.0 * k + 1.0) / 32.0).sin(),
                Transform::None => f64::from(u8::from(k == n)),
            }
        })
    })
}

#[test]
fn coefficients_are_those_of_the_transform_but_for_rounding() {
    let mut next = noise(12);
    let mut most = 0i16;
    let all = Transform::ALL.map(|transform| (transform, matrix(transform)));
    for round in 0..1000 {
        let extreme = round % 2 == 0;
        let block: Block = std::array::from_fn(|_| match (extreme, next() >> 63) {
            (true, 0) => 255,
            (true, _) => -255,
            (false, _) => within(next() >> 8, 255),
        });
        for (transform, m) in &all {
            let mut found = block;
            transform.forward(&mut found);
            most = found.iter().fold(most, |most, &c| most.max(c.abs()));
            for (c, &coefficient) in found.iter().enumerate() {
                let (down, along) = (m[c / 8], m[c % 8]);
                let term = |(i, &x): (usize, &i16)| down[i / 8] * along[i % 8] * f64::from(x);
                let exact: f64 = block.iter().enumerate().map(term).sum();
                let error = (exact - f64::from(coefficient)).abs();
                assert!(error < 8.0, "{transform:?} {c}: {error}");
            }
        }
    }
    // The greatest there can be: all lanes at their ends.
    let mut flat = [255; 64];
    Transform::Dct.forward(&mut flat);
    assert!((2035..=2045).contains(&flat[0]), "{}", flat[0]);
    assert!(most < 2500);
}

#[test]
fn the_worst_residuals_stay_in_range() {
    // For each coefficient the signs that make it greatest: no sum of steps leaves 16 bits.
    for transform in [Transform::Dct, Transform::Adst] {
        let m = matrix(transform);
        for k in 0..8 {
            for l in 0..8 {
                let worst = |most: i16| -> Block {
                    let sign = |i: usize| m[k][i / 8] * m[l][i % 8] < 0.0;
                    std::array::from_fn(|i| if sign(i) { -most } else { most })
                };
                exact(&worst(2047));
                let mut there = worst(255);
                transform.forward(&mut there);
                let (own, most) = (there[8 * k + l], there.iter().map(|c| c.abs()).max());
                assert_eq!(Some(own), most, "{transform:?} {k} {l}");
                assert!((255..=1 << 12).contains(&own), "{transform:?} {k} {l}: {own}");
            }
        }
    }
}

#[test]
fn hostile_coefficients_give_some_residuals() {
    let mut next = noise(13);
    for _ in 0..1000 {
        for transform in Transform::ALL {
            #[expect(clippy::cast_possible_truncation, reason = "low bits of random numbers")]
            let mut block: Block = std::array::from_fn(|_| (next() >> 16) as i16);
            transform.inverse(&mut block);
            let mut block = [i16::MIN; 64];
            transform.inverse(&mut block);
        }
    }
}

#[test]
fn a_ramp_gets_a_transform_and_noise_none() {
    let ramp: Block = std::array::from_fn(|i| i16::try_from(i % 8 * 20 + i / 8 * 9).unwrap());
    assert_ne!(choose(&ramp, &Transform::ALL), Transform::None);
    let mut spike = [0; 64];
    spike[27] = 100;
    assert_eq!(choose(&spike, &Transform::ALL), Transform::None);
}
