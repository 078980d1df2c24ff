//! Against real servers of the test kit.

mod calls;
mod causes;
mod connections;
mod world;
