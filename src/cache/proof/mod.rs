//! The cache against a slow reading of its rules on whole token arrays, by hand, and by what it costs.

mod cost;
mod general;
mod naive;
mod world;
