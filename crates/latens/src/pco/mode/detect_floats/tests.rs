use super::*;
use crate::number::Number;

#[test]
fn decimals_and_fractions_are_found() {
    let cents: Vec<u64> =
        (1..500).map(|i| (f64::from(i * 37 % 1000) / 100.0).to_latent()).collect();
    assert!(float_mult_bases(&cents).0.contains(&0.01f64.to_latent()));
    let sevenths: Vec<u64> =
        (1..500).map(|i| (f64::from(i * 37 % 1000) / 7.0).to_latent()).collect();
    assert!(float_mult_bases(&sevenths).0.contains(&(1.0 / 7.0f64).to_latent()));
    let random: Vec<u64> = (1..500).map(|i| (f64::from(i) * 0.7231).sin().to_latent()).collect();
    assert!(float_mult_bases(&random).0.is_empty());
}

#[test]
fn all_digits_of_doubles_and_many_of_singles_are_found() {
    let printed = |i: u32| format!("{:.14}", f64::from(i).ln() / 2.0 + 1.0);
    let sample: Vec<u64> =
        (1..500).map(|i| printed(i).parse::<f64>().unwrap().to_latent()).collect();
    assert_eq!(float_mult_bases(&sample).0.first(), Some(&1e-14f64.to_latent()));
    let cents: Vec<u32> = (1..500u32)
        .map(|i| format!("{:.2}", f64::from(i * 7919 % 1_000_000) / 100.0))
        .map(|x| x.parse::<f32>().unwrap().to_latent())
        .collect();
    assert_eq!(float_mult_bases(&cents).0.first(), Some(&0.01f32.to_latent()));
}

#[test]
fn as_many_digits_in_all_have_a_base_between() {
    // Four of five between 0.1 and 1, the others below.
    let size = |i: u32| if i.is_multiple_of(5) { -1.0 - f64::from(i % 30) / 10.0 } else { 0.0 };
    let sample: Vec<u64> = (1..1000)
        .map(|i| 10f64.powf(size(i) - f64::from(i * 619 % 997) / 1000.0))
        .map(|x| format!("{x:.4e}").parse::<f64>().unwrap().to_latent())
        .collect();
    let bases = float_mult_bases(&sample).0;
    assert!(bases.contains(&1e-5f64.to_latent()), "{bases:?}");
}

#[test]
fn a_decimal_base_is_not_missed_for_what_is_near_it() {
    // Even counts of hundredths; sums that are some last places off.
    let twos: Vec<u64> =
        (1..500).map(|i| (f64::from(i * 37 % 1000 * 2) / 100.0).to_latent()).collect();
    assert_eq!(float_mult_bases(&twos).0.first(), Some(&0.02f64.to_latent()));
    let sums: Vec<u64> = (1..500)
        .map(|i| (f64::from(i * 7919 % 100_003) / 1e6 * (1.0 + f64::EPSILON)).to_latent())
        .collect();
    assert_eq!(float_mult_bases(&sums).0, [1e-6f64.to_latent()]);
}
