//! Opens a connection to an endpoint of a backend, and says why when it cannot.
