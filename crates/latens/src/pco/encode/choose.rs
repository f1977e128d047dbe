//! The plan for a chunk, by what the caller says and by its numbers.

use crate::error::{Error, Result};
use crate::number::{Latent, NumberType};
use crate::pco::config::{Config, DeltaSpec};
use crate::pco::encode::auto;
use crate::pco::encode::plan::{ModeChoice, ModeLatents, Plan, Ranks, forced_delta};
use crate::pco::layout::chunk_meta::Primary;

/// What the configuration forces, and for the rest what `auto` finds best.
pub(crate) fn plan<L: Latent>(latents: Vec<L>, ty: NumberType, config: &Config) -> Result<Plan<L>> {
    let mode = ModeChoice::forced(config.mode, config.delta);
    if mode.is_none() || config.delta == DeltaSpec::Auto {
        return auto::plan(latents, ty, mode, config);
    }
    let latents = mode
        .and_then(|mode| ModeLatents::split(latents, mode))
        .ok_or_else(|| Error::invalid("more distinct values than a dictionary holds"))?;
    let delta = match &latents.primary {
        Primary::Latents(primary) => forced_delta(config.delta, primary),
        Primary::Indices(indices) => forced_delta(config.delta, indices),
    };
    Ok(Plan { latents, delta, lookbacks: None, ranks: Ranks::NONE })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::config::Favor;
    use crate::pco::layout::delta::DeltaPayload;
    use crate::pco::layout::mode::ModePayload;
    use crate::pco::noise::mix;

    /// Repeats in the middle of a chunk that is smooth elsewhere.
    #[test]
    fn the_middle_of_a_chunk_does_not_speak_for_all() {
        let smooth = |i: u64| 40_000_000 + 7 * i * i % 1_000_000_007 + mix(i) % 8;
        let tile = |i: u64| mix(i % 300) >> 44;
        let latent = |i| if (24_000..40_000).contains(&i) { tile(i) } else { smooth(i) };
        let latents: Vec<u64> = (0..64_000).map(latent).collect();
        for level in [4, 8] {
            let config = Config::default().level(level);
            let plan = plan(latents.clone(), NumberType::U64, &config).unwrap();
            assert!(matches!(plan.delta, DeltaPayload::Consecutive { .. }), "{:?}", plan.delta);
        }
    }

    /// Rows of a table that come again, of which no number comes often.
    #[test]
    fn rows_that_repeat_are_looked_back_to() {
        let row = |i: u64| mix(i) % 70;
        let latents: Vec<u64> = (0..7700).map(|i| mix(row(i / 22) * 22 + i % 22) >> 8).collect();
        let plan = plan(latents, NumberType::U64, &Config::default()).unwrap();
        assert!(matches!(plan.delta, DeltaPayload::Lookback { .. }), "{:?}", plan.delta);
        assert!(plan.latents.primary.latents().is_some());
    }

    /// Whether lookbacks are planned for u32.
    fn looks_back(value: impl Fn(u64) -> u64, level: u32) -> bool {
        let latents: Vec<u32> = (0..100_000).map(|i| value(i).try_into().unwrap()).collect();
        let plan = plan(latents, NumberType::U32, &Config::default().level(level)).unwrap();
        matches!(plan.delta, DeltaPayload::Lookback { .. })
    }

    /// Rows of few values of their own, all of them multiples.
    #[test]
    fn values_of_a_row_are_looked_back_to() {
        let value = |i: u64| mix(i / 384 * 100 + mix(i) % 14) >> 50 << 10;
        assert!(looks_back(value, 4) && looks_back(value, 8));
    }

    /// Rows longer than what is glanced at, of values that only their row has.
    #[test]
    fn values_of_long_rows_are_looked_back_to() {
        for row in [1536, 4096] {
            let value = |i: u64| mix(i / row * 100 + mix(i) % 14) >> 36;
            assert!(looks_back(value, 8), "{row}");
        }
    }

    /// What repeats has many linear predictions, of which some are no longer good once weights are whole.
    #[test]
    fn a_prediction_stays_as_good_as_the_sample_said() {
        let latents: Vec<u8> = (0..200_000u64).map(|i| (mix(i % 24) >> 56) as u8).collect();
        let file = crate::pco::compress(&latents, &Config::default()).unwrap();
        assert!(file.len() < 1000, "{}", file.len());
    }

    /// Events nearly in the order of their times, and such as are in order or in none.
    #[test]
    fn scatter_about_a_trend_is_planned() {
        let planned = |value: &dyn Fn(u64) -> u64, config: Config| {
            let latents: Vec<u64> = (0..30_000).map(value).collect();
            let plan = plan(latents.clone(), NumberType::U64, &config).unwrap();
            let ModePayload::IntMult { base } = plan.latents.mode else { return false };
            let both =
                plan.latents.primary.latents().unwrap().iter().zip(plan.latents.secondary.unwrap());
            let sum = |(x, above): (&u64, u64)| x.wrapping_mul(base).wrapping_add(above);
            assert_eq!(both.map(sum).collect::<Vec<u64>>(), latents);
            base > u64::MAX / 4
        };
        let scattered = |i: u64| 3600 * (i / 60 + mix(i) % 3);
        let level = |level| Config::default().level(level);
        assert!(planned(&scattered, level(8)) && planned(&scattered, level(12)));
        assert!(!planned(&scattered, level(4)));
        assert!(!planned(&scattered, level(8).favor(Favor::Speed)));
        assert!(!planned(&|i| 3600 * (i / 60), level(8)));
        assert!(!planned(&|i| 3600 * (mix(i) % 1000), level(8)));
    }

    /// Noise that a sample might take for a signal.
    #[test]
    fn noise_is_not_predicted() {
        let latents: Vec<u32> = (0..30_000).map(|i| (mix(i) >> 52) as u32).collect();
        let config = Config::default().level(12).favor(Favor::Size);
        let plan = plan(latents, NumberType::U32, &config).unwrap();
        assert_eq!(plan.delta, DeltaPayload::None);
    }
}
