//! The invariants of ARCHITECTURE.md, and what keeps the repository tidy.

mod architecture;
mod dependencies;
mod files;
mod repository;
mod words;
