//! What a metric's number can be at all: a limit or an accepted value beyond that is a mistake in the file.

use crate::metrics::{Metric, Unit};
use crate::results::Number;

/// The metrics that are scores or shares, from 0 to 1.
const SHARES: [&str; 3] = ["quality", "child.quality", "child.coverage"];
/// The metrics that are differences, which may lie below 0.
const DIFFERENCES: [&str; 2] = ["delegation.footprint", "delegation.compression"];

/// Why a metric never has this value; `None`: it may have it.
pub fn impossible(metric: &Metric, value: Number) -> Option<String> {
    let name = metric.name;
    let is_counted = matches!(metric.unit, Unit::Tokens | Unit::Requests | Unit::Milliseconds | Unit::Count);
    if is_counted && value.value().fract() != 0.0 {
        return Some(format!("`{name}` is a count: {value} is no whole number"));
    }
    if value.value() < 0.0 && !DIFFERENCES.contains(&name) {
        return Some(format!("`{name}` is never below 0: {value}"));
    }
    (value.value() > 1.0 && SHARES.contains(&name)).then(|| format!("`{name}` is a share from 0 to 1: {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::metric;

    #[test]
    fn what_a_metric_can_be() {
        let check = |name: &str, value: Number, words: Option<&str>| {
            let said = impossible(metric(name).unwrap(), value);
            assert_eq!(said.as_deref(), words, "{name} {value}");
        };
        let (whole, real) = (Number::Whole, Number::Real);
        check("requests", whole(0), None);
        check("requests", whole(-1), Some("`requests` is never below 0: -1"));
        check("total.input", real(1.5), Some("`total.input` is a count: 1.5 is no whole number"));
        check("total.input", real(2.0), None);
        check("latency.model", real(-0.5), Some("`latency.model` is a count: -0.5 is no whole number"));
        check("quality", real(1.0), None);
        check("quality", whole(2), Some("`quality` is a share from 0 to 1: 2"));
        check("child.coverage", real(-0.1), Some("`child.coverage` is never below 0: -0.1"));
        check("delegation.footprint", whole(-300), None);
        check("delegation.compression", real(7.5), None);
        check("cost.usd", real(0.25), None);
    }

    #[test]
    fn the_names_are_names_of_metrics() {
        SHARES.iter().chain(&DIFFERENCES).for_each(|name| assert!(metric(name).is_some(), "{name}"));
    }
}
