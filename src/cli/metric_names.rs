//! Metrics by the names that were typed.

use crate::error::Error;
use crate::error::nearest::suggestion_or_stop;
use crate::metrics::{METRICS, Metric, metric};

/// The metrics of these names.
///
/// # Errors
/// The first name that no metric has, with the nearest.
pub fn metrics_named(names: &[String]) -> Result<Vec<&'static Metric>, Error> {
    let known = |name: &String| {
        metric(name).ok_or_else(|| {
            let near = suggestion_or_stop(name, METRICS.iter().map(|metric| metric.name));
            Error::Usage(format!("there is no metric `{name}`{near} `ctxbench list metrics` names all"))
        })
    };
    names.iter().map(known).collect()
}
