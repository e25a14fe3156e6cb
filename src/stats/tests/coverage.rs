//! How often 95 % intervals hold the true mean, in 2,000 data sets a row.
//!
//! The band is 93 to 97 %, of the data sets that have an interval. A row with a wider band says why: at five values few sums are possible,
//! and those that can be cover more often; one-sided differences must allow for what was not seen. Nothing covers at every single mean:
//! Wilson's interval goes up and down with the share (`passes_at_every_share`).
//!
//! In 10,000 data sets with 1,999 resamples each, 36 distributions at 5, 7, 10 and 20 values: scores 93 to 98 % (99 % on three steps at
//! five; 92 to 99 % for passes at one chance), differences of scores 93 to 97 % (100 % where nearly all are ties and none goes the other
//! way), sizes 93 to 98 %, any numbers 93 to 98 % (92 % at five, two in five ties at 0). At four values: 92 to 99 %, 88 % for passes at
//! 1 in 2. The percentile and BCa bootstraps: 70 to 89 % at five and ten, from normal to log-normal.
//! `cargo test --lib coverage -- --nocapture` prints the table.

use super::super::{Method, Random, Sample, Scale};
use super::draws::{beta, exponential, gamma, log_normal, normal, one_of, pass, share, uniform};

const DATA_SETS: u32 = 2_000;

/// Fewer than the product takes: the tests run unoptimised. More only steadies the ends.
const RESAMPLES: usize = 239;

/// Values of so many families, and their true mean.
type Draw = dyn Fn(&mut Random, usize) -> (Vec<f64>, f64);

/// Between 93 and 97 %.
const BAND: (f64, f64) = (0.93, 0.97);

fn check(name: &str, scale: Scale, counts: &[usize], expect: (f64, f64), draw: &Draw) {
    for &count in counts {
        let mut random = Random::new(2_026 + count as u64);
        let (mut covered, mut unknown) = (0_u32, 0_u32);
        let mut widths = Vec::new();
        for data_set in 0..DATA_SETS {
            let (values, mean) = draw(&mut random, count);
            let sample = Sample::of_scenarios(&values).expect("finite");
            match sample.interval(scale, RESAMPLES, u64::from(data_set)) {
                Ok(interval) => {
                    covered += u32::from(interval.low <= mean + 1e-9 && mean <= interval.high + 1e-9);
                    widths.push(interval.high - interval.low);
                }
                Err(_) => unknown += 1,
            }
        }
        let known = DATA_SETS - unknown;
        let coverage = f64::from(covered) / f64::from(known);
        widths.sort_by(f64::total_cmp);
        println!("{name:<40} {count:>3}  {:>5.1} %  width {:.3}  unknown {unknown}", 100.0 * coverage, widths[widths.len() / 2]);
        assert!((expect.0..=expect.1).contains(&coverage), "{name}, {count} values: covers {coverage}, expected {expect:?}");
        assert!(unknown <= DATA_SETS / 50, "{name}, {count} values: {unknown} data sets without an interval");
    }
}

/// Independent values with a known mean.
fn values(mean: f64, value: impl Fn(&mut Random) -> f64 + 'static) -> Box<Draw> {
    Box::new(move |random, count| ((0..count).map(|_| value(random)).collect(), mean))
}

/// Each data set has its own chance, and so its own mean.
fn chances(chance: impl Fn(&mut Random) -> f64 + 'static, value: impl Fn(&mut Random, f64) -> f64 + 'static) -> Box<Draw> {
    Box::new(move |random, count| {
        let chance = chance(random);
        ((0..count).map(|_| value(random, chance)).collect(), chance)
    })
}

#[test]
fn scores() {
    let all = &[5, 7, 10, 20][..];
    check("passes, any chance", Scale::Unit, all, BAND, &*chances(uniform, pass));
    check("shares of 5, mostly passed", Scale::Unit, all, BAND, &*chances(|random| beta(random, 4, 1), |random, p| share(random, 5, p)));
    check("halves, any chance", Scale::Unit, &[7, 10, 20], BAND, &*chances(uniform, |random, p| share(random, 2, p)));
    // Of five values on three steps two in three data sets are one of four.
    check("halves, any chance", Scale::Unit, &[5], (0.93, 0.99), &*chances(uniform, |random, p| share(random, 2, p)));
    let seeds = |random: &mut Random, p: f64| {
        let chance = if uniform(random) < 0.3 { pass(random, p) } else { p };
        share(random, 3, chance)
    };
    check("3 seeds, scenarios differ", Scale::Unit, &[7, 10, 20], BAND, &*chances(uniform, seeds));
    check("3 seeds, scenarios differ", Scale::Unit, &[5], (0.93, 0.99), &*chances(uniform, seeds));
    check("beta(8, 2)", Scale::Unit, all, BAND, &*values(0.8, |random| beta(random, 8, 2)));
    check("half 1, half beta(2, 2)", Scale::Unit, all, BAND, &*values(0.75, |random| pass(random, 0.5).max(beta(random, 2, 2))));
    check(
        "1 (80 %), 3/4, 1/2",
        Scale::Unit,
        &[10, 20],
        BAND,
        &*values(0.925, |random| one_of(random, &[(0.5, 0.1), (0.75, 0.1), (1.0, 0.8)])),
    );
}

/// Wilson's interval, exactly: its coverage at one share is a binomial sum. On average over the shares it is near 95 %; at a single one it
/// is what few possible shares allow.
#[test]
fn passes_at_every_share() {
    for count in [5_u32, 6, 8, 10, 25] {
        let intervals: Vec<(f64, f64)> = (0..=count)
            .map(|passes| {
                let estimate = super::super::Estimate::of_passes(passes as usize, count as usize).expect("trials");
                let interval = estimate.interval().expect("Wilson's");
                assert_eq!(interval.method, Method::Wilson);
                (interval.low, interval.high)
            })
            .collect();
        let coverage = |p: f64| {
            let mut chance = (1.0 - p).powi(count as i32);
            let mut covered = 0.0;
            for passes in 0..=count {
                let (low, high) = intervals[passes as usize];
                covered += if low <= p && p <= high { chance } else { 0.0 };
                chance *= p / (1.0 - p) * f64::from(count - passes) / f64::from(passes + 1);
            }
            covered
        };
        let each: Vec<f64> = (0..999).map(|step| coverage((f64::from(step) + 0.5) / 999.0)).collect();
        let (mean, least) = (each.iter().sum::<f64>() / 999.0, each.iter().copied().fold(1.0, f64::min));
        println!("passes of {count:>2}: {:.1} % on average over all shares, {:.1} % at the worst", 100.0 * mean, 100.0 * least);
        assert!((0.945..=0.965).contains(&mean), "{count}: {mean}");
        assert!(least > 0.82, "{count}: {least}");
    }
}

#[test]
fn differences_of_scores() {
    let all = &[5, 7, 10, 20][..];
    let scale = Scale::UnitDifference;
    let any = |random: &mut Random, count: usize| {
        let (gain, tie, loss) = (exponential(random), gamma(random, 2), exponential(random));
        let whole = gain + tie + loss;
        let one = |random: &mut Random| one_of(random, &[(1.0, gain / whole), (-1.0, loss / whole), (0.0, 1.0)]);
        ((0..count).map(|_| one(random)).collect(), (gain - loss) / whole)
    };
    check("passes, any chances, many ties", scale, all, BAND, &any);
    check(
        "fifths, half of them ties",
        scale,
        all,
        BAND,
        &*values(0.125, |random| one_of(random, &[(0.0, 0.5), (-0.2, 0.125), (0.2, 0.125), (0.4, 0.125), (0.6, 0.125)])),
    );
    let graded = |random: &mut Random| beta(random, 8, 2) - beta(random, 4, 4);
    check("beta scores, no ties", scale, all, BAND, &*values(0.3, graded));
    check("beta scores, 4 in 5 ties", scale, all, BAND, &*values(0.06, move |random| pass(random, 0.2) * graded(random)));
    let half = |random: &mut Random, more: f64, less: f64| one_of(random, &[(0.0, less), (0.5, 0.3), (1.0, more)]);
    check("halves", scale, all, BAND, &*values(0.3, move |random| half(random, 0.5, 0.2) - half(random, 0.2, 0.5)));
    // Never a loss, and a gain in one of ten: the interval must allow for losses, so it covers nearly always.
    check("1 in 10 gains, no loss", scale, all, (0.93, 1.0), &*values(0.1, |random| pass(random, 0.1)));
}

#[test]
fn sizes() {
    let all = &[5, 7, 10, 20][..];
    let spread_by = |deviation: f64| values((deviation * deviation / 2.0).exp(), move |random| log_normal(random, deviation));
    check("log-normal, sd of logs 0.4", Scale::Positive, &[5, 10], BAND, &*spread_by(0.4));
    check("log-normal, sd of logs 1", Scale::Positive, all, BAND, &*spread_by(1.0));
    check("log-normal, sd of logs 1.4", Scale::Positive, &[5, 10], BAND, &*spread_by(1.4));
    // Not log-normal.
    check("gamma(4)", Scale::Positive, &[5], BAND, &*values(4.0, |random| gamma(random, 4)));
    check("exponential", Scale::Positive, &[20], BAND, &*values(1.0, exponential));
    let mean = 7.0 * f64::exp(0.045);
    let three = |random: &mut Random| one_of(random, &[(1.0, 1.0 / 3.0), (4.0, 1.0 / 3.0), (16.0, 1.0)]) * log_normal(random, 0.3);
    check("small, medium, large (1 : 4 : 16)", Scale::Positive, &[7, 20], BAND, &*values(mean, three));
    // Whole numbers with ties, the logarithms skewed to the left: too wide rather than too narrow.
    check("1 + passes of 5", Scale::Positive, &[7, 20], (0.93, 0.98), &*values(4.0, |random| 1.0 + 5.0 * share(random, 5, 0.6)));
}

#[test]
fn any_numbers() {
    check("normal", Scale::Real, &[10], BAND, &*values(0.0, normal));
    // As wide as skewed values need it at five; 96.7 % in 10,000 data sets.
    check("normal", Scale::Real, &[5], (0.93, 0.975), &*values(0.0, normal));
    let mean = f64::exp(0.125) * (1.5 * f64::exp(0.125) - f64::exp(0.045));
    let paired = |random: &mut Random| log_normal(random, 0.5) * (1.5 * log_normal(random, 0.5) - log_normal(random, 0.3));
    check("paired log-normal difference", Scale::Real, &[5, 10], BAND, &*values(mean, paired));
    // On the edge: 93.0 % in 10,000 data sets.
    check("paired log-normal difference", Scale::Real, &[7], (0.92, 0.97), &*values(mean, paired));
    check("exponential, as a difference", Scale::Real, &[5, 10, 20], BAND, &*values(1.0, exponential));
    let whole = |random: &mut Random| one_of(random, &[(-2.0, 0.05), (-1.0, 0.15), (0.0, 0.4), (1.0, 0.2), (2.0, 0.15), (3.0, 0.05)]);
    check("whole numbers, 2 in 5 ties", Scale::Real, &[5, 7, 10], BAND, &*values(0.4, whole));
    let zeros = |random: &mut Random| pass(random, 0.6) * (1.0 + normal(random));
    check("2 in 5 ties, else normal", Scale::Real, &[7, 10], BAND, &*values(0.6, zeros));
    // With five values, ties on one side and the mean on the other, no interval tried here reached 93 %.
    check("2 in 5 ties, else normal", Scale::Real, &[5], (0.91, 0.97), &*values(0.6, zeros));
}

/// Families of one to four scenarios that are alike within a family; the interval is over families.
#[test]
fn families() {
    for count in [6_usize, 10, 20] {
        let names: Vec<String> = (0..count).map(|place| format!("{place:02}")).collect();
        let mut random = Random::new(count as u64);
        let mut covered = [0_u32; 2];
        for data_set in 0..DATA_SETS {
            let (mut reals, mut scores) = (Vec::new(), Vec::new());
            for (place, family) in names.iter().enumerate() {
                let (middle, chance) = (normal(&mut random), beta(&mut random, 3, 2));
                for scenario in &names[..1 + place % 4] {
                    let seen = |value| super::super::Observation { family, scenario, seed: 1, value };
                    reals.push(seen(middle + normal(&mut random)));
                    scores.push(seen(share(&mut random, 3, chance)));
                }
            }
            for (kind, (cells, scale, mean)) in [(reals, Scale::Real, 0.0), (scores, Scale::Unit, 0.6)].into_iter().enumerate() {
                let sample = Sample::of(cells).expect("finite");
                let interval = sample.interval(scale, RESAMPLES, u64::from(data_set)).expect("they spread");
                covered[kind] += u32::from(interval.low <= mean && mean <= interval.high);
            }
        }
        for (name, covered) in ["any number", "3 seeds"].iter().zip(covered) {
            let coverage = f64::from(covered) / f64::from(DATA_SETS);
            println!("{count:>3} families of 1 to 4, {name}: {:.1} %", 100.0 * coverage);
            assert!((BAND.0..=BAND.1).contains(&coverage), "{count} families, {name}: covers {coverage}");
        }
    }
}
