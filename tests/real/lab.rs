//! Servers that many tests share: started when the first test needs them, ended with the last.

use std::{env, sync::Mutex};

use testkit::{
    TempPki,
    real::{
        Core, Door, DoorBuilder, Network, SampleServer, Unavailable, companion, program, program_version,
    },
};

use crate::rows::Shared;

/// A core with sample-apiserver behind its aggregator, and the door before both.
pub(crate) struct Lab {
    // Dropped in this order.
    pub(crate) door: Door,
    pub(crate) sample: Mutex<SampleServer>,
    pub(crate) core: Core,
    pub(crate) network: Network,
}

/// A lab that is started once, by whoever needs it first.
#[derive(Clone)]
pub(crate) struct SharedLab(Shared<Lab>);

impl SharedLab {
    /// Not started yet.
    pub(crate) fn new() -> Self {
        Self(Shared::new())
    }

    /// The lab.
    pub(crate) fn get(&self) -> &Lab {
        self.0.get(|| Lab::start().unwrap_or_else(|missing| panic!("{missing}")))
    }
}

impl Lab {
    /// Whether this machine can have one.
    pub(crate) fn available() -> Result<(), Unavailable> {
        for name in ["etcd", "kubectl", "sample-apiserver"] {
            program(name)?;
        }
        match version() {
            Some(version) => program_version("kube-apiserver", &version)?,
            None => program("kube-apiserver")?,
        };
        companion("sample-apiserver", "artifacts/example/apiservice.yaml")?;
        Network::create().map(drop)
    }

    pub(crate) fn start() -> Result<Self, Unavailable> {
        let network = Network::create()?;
        let core = match version() {
            Some(version) => Core::start_version(&version, network.host())?,
            None => Core::start(network.host())?,
        };
        let sample = SampleServer::behind(&core, &network, 0)?;
        sample.aggregate(&core)?;
        let mut door = DoorBuilder::new(core.pki()).core(&core).start()?;
        door.wait_for_sample(core.pki());
        Ok(Self { door, sample: Mutex::new(sample), core, network })
    }

    /// The certificates of everything in it.
    pub(crate) fn pki(&self) -> &TempPki {
        self.core.pki()
    }
}

/// The version of kube-apiserver that a long run asks for.
pub(crate) fn version() -> Option<String> {
    env::var("TRELLIS_CORE_VERSION").ok()
}
