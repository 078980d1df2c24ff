//! The table of areas. Later work adds rows.

/// An area: an hour at most.
pub(crate) struct Area {
    /// What the command line calls it.
    pub(crate) name: &'static str,
    /// What it shows.
    pub(crate) about: &'static str,
    /// Its parts, each resumed or done as a whole.
    pub(crate) units: &'static [Unit],
}

/// Some tests of one test binary.
pub(crate) struct Unit {
    /// Name in the result file, unique in the area.
    pub(crate) name: &'static str,
    /// Folder name of the package.
    pub(crate) package: &'static str,
    /// Test target of the package.
    pub(crate) target: &'static str,
    /// Only tests whose name contains this; empty for all.
    pub(crate) filter: &'static str,
    /// Whether the tests are marked `#[ignore]`.
    pub(crate) long: bool,
    /// What makes them longer than in an ordinary run.
    pub(crate) environment: &'static [(&'static str, &'static str)],
}

/// All areas.
pub(crate) const AREAS: &[Area] = &[
    Area {
        name: "differential",
        about: "every recorded request through upstream's aggregator and through the door, with every state of the server",
        units: &[Unit {
            name: "differential",
            package: "tests",
            target: "real",
            filter: "differential",
            long: false,
            environment: &[("TRELLIS_FULL", "1")],
        }],
    },
    Area {
        name: "streams",
        about: "exec, attach, logs and port-forward, 100 MB each way; servers as their own projects ship them",
        units: &[
            Unit {
                name: "streams",
                package: "tests",
                target: "real",
                filter: "streams",
                long: false,
                environment: &[("TRELLIS_FULL", "1")],
            },
            Unit {
                name: "third-parties",
                package: "tests",
                target: "real",
                filter: "third_parties",
                long: false,
                environment: &[("TRELLIS_FULL", "1")],
            },
        ],
    },
    Area {
        name: "versions",
        about: "the client matrix in front of every supported version of kube-apiserver, with every kubectl",
        units: &[
            Unit {
                name: "clients-1.37",
                package: "tests",
                target: "real",
                filter: "clients",
                long: false,
                environment: &[("TRELLIS_FULL", "1"), ("TRELLIS_CORE_VERSION", "1.37.2")],
            },
            Unit {
                name: "clients-1.36",
                package: "tests",
                target: "real",
                filter: "clients",
                long: false,
                environment: &[("TRELLIS_FULL", "1"), ("TRELLIS_CORE_VERSION", "1.36.3")],
            },
            Unit {
                name: "clients-1.35",
                package: "tests",
                target: "real",
                filter: "clients",
                long: false,
                environment: &[("TRELLIS_FULL", "1"), ("TRELLIS_CORE_VERSION", "1.35.4")],
            },
            Unit {
                name: "clients-1.34",
                package: "tests",
                target: "real",
                filter: "clients",
                long: false,
                environment: &[("TRELLIS_FULL", "1"), ("TRELLIS_CORE_VERSION", "1.34.4")],
            },
        ],
    },
    Area {
        name: "soak",
        about: "use while servers come and go; memory at the end against memory after a quarter",
        units: &[Unit {
            name: "soak",
            package: "tests",
            target: "real",
            filter: "soak",
            long: false,
            environment: &[("TRELLIS_FULL", "1")],
        }],
    },
    Area {
        name: "spoof",
        about: "a million attempts to bring in an identity, judged at a server that folds names as CGI does",
        units: &[
            Unit {
                name: "spoof",
                package: "gateway",
                target: "it",
                filter: "spoof",
                long: false,
                environment: &[("TRELLIS_FULL", "1")],
            },
            Unit {
                name: "spoof-program",
                package: "tests",
                target: "hostile",
                filter: "spoof",
                long: false,
                environment: &[("TRELLIS_FULL", "1")],
            },
        ],
    },
    Area {
        name: "fuzz",
        about: "the property tests of everything that reads what a peer sends, with many more cases",
        units: &[
            Unit {
                name: "kube-wire",
                package: "kube-wire",
                target: "it",
                filter: "prop",
                long: false,
                environment: &[("PROPTEST_CASES", "100000")],
            },
            Unit {
                name: "catalog",
                package: "catalog",
                target: "it",
                filter: "prop",
                long: false,
                environment: &[("PROPTEST_CASES", "20000")],
            },
            Unit {
                name: "registry",
                package: "registry",
                target: "registry",
                filter: "prop",
                long: false,
                environment: &[("PROPTEST_CASES", "100000")],
            },
            Unit {
                name: "gateway",
                package: "gateway",
                target: "gateway",
                filter: "prop",
                long: false,
                environment: &[("PROPTEST_CASES", "20000")],
            },
        ],
    },
    Area {
        name: "faults",
        about: "every fault of a server, every abuse by a client, a hundred kills, every damaged file",
        units: &[
            Unit {
                name: "servers",
                package: "tests",
                target: "hostile",
                filter: "faults",
                long: false,
                environment: &[("TRELLIS_FULL", "1")],
            },
            Unit {
                name: "clients",
                package: "tests",
                target: "hostile",
                filter: "slow",
                long: false,
                environment: &[("TRELLIS_FULL", "1")],
            },
            Unit {
                name: "machine",
                package: "tests",
                target: "hostile",
                filter: "state",
                long: false,
                environment: &[("TRELLIS_FULL", "1")],
            },
        ],
    },
    Area {
        name: "storage",
        about: "five hundred kills of a process that writes, and random histories against a model",
        units: &[
            Unit {
                name: "kills",
                package: "apiserver",
                target: "it",
                filter: "kill",
                long: false,
                environment: &[("TRELLIS_FULL", "1")],
            },
            Unit {
                name: "histories",
                package: "apiserver",
                target: "it",
                filter: "prop",
                long: false,
                environment: &[("PROPTEST_CASES", "5000")],
            },
        ],
    },
];
