//! Why a figure has no value.

use std::borrow::Cow;

/// In words for a reader, as it stands in results. Most reasons are said of every cell, and are no text of their own.
pub type Reason = Cow<'static, str>;
