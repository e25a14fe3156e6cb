//! The scenario file format.
