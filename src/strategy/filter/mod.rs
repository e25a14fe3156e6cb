//! The pure history filters.
