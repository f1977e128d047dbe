//! The plan for a chunk, by what the caller says and by its numbers.

use crate::error::{Error, Result};
use crate::number::{Latent, NumberType};
use crate::pco::config::{Config, DeltaSpec};
use crate::pco::encode::auto;
use crate::pco::encode::plan::{ModeChoice, ModeLatents, Plan, forced_delta};
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
    Ok(Plan { latents, delta, lookbacks: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pco::config::Favor;
    use crate::pco::layout::delta::DeltaPayload;

    /// Noise that a sample might take for a signal.
    #[test]
    fn noise_is_not_predicted() {
        let mix = |x: u32| (x ^ x >> 15).wrapping_mul(0x85eb_ca6b);
        let noise = |i: u32| mix(mix(mix(i + 1))) >> 20;
        let latents: Vec<u32> = (0..30_000).map(noise).collect();
        let config = Config::default().level(12).favor(Favor::Size);
        let plan = plan(latents, NumberType::U32, &config).unwrap();
        assert_eq!(plan.delta, DeltaPayload::None);
    }
}
