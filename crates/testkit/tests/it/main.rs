//! The test servers and clients against each other.

mod faults;
mod serving;
mod upgrades;
