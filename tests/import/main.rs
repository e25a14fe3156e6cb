//! Import, from files to `ctxbench-import/1`.

mod damage;
mod expect;
mod figures;
mod reference;
mod steps;
