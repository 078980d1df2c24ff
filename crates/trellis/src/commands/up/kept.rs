//! The example server for as long as the door runs: started again when it ends.

use std::{
    convert::Infallible,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use super::example::Example;
use crate::{
    args::DoorArgs,
    commands::register::{store, wait},
    door::{Door, Registration},
    exit::{Code, Outcome, Problem},
    wiring::RunningDoor,
};

/// Name of its registration.
pub(super) const NAME: &str = "example";
/// How long it may take to answer through the door.
const PATIENCE: Duration = Duration::from_secs(15);
/// Pause before it is started again; it doubles with each failure.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// Longest pause.
const LAST_PAUSE: Duration = Duration::from_secs(60);

/// The example server, and what is needed to start it.
pub(super) struct Kept {
    state: PathBuf,
    front_proxy_ca: PathBuf,
    kubeconfig: PathBuf,
    /// None between two runs.
    example: Option<Example>,
}

impl Kept {
    /// Starts it as a process of its own, and registers it by its URL as anybody would.
    pub(super) async fn start(door: &RunningDoor, folder: &Path) -> Outcome<Self> {
        let missing = |what: &str| Problem::new(Code::Failure, format!("the door has no {what}"));
        let front_proxy_ca = door.front_proxy_ca.clone().ok_or_else(|| missing("front-proxy authority"))?;
        let kubeconfig = door.admin_kubeconfig.clone().ok_or_else(|| missing("admin kubeconfig"))?;
        let mut kept = Self { state: folder.join("example"), front_proxy_ca, kubeconfig, example: None };
        kept.run().await?;
        Ok(kept)
    }

    /// The running server.
    pub(super) fn example(&self) -> Option<&Example> {
        self.example.as_ref()
    }

    /// Starts it again whenever it ends, with pauses that grow. May be dropped at any time.
    pub(super) async fn keep(&mut self) -> Infallible {
        let mut pause = FIRST_PAUSE;
        loop {
            let begun = Instant::now();
            if let Some(example) = &self.example {
                let ended = example.ended().await;
                if begun.elapsed() > LAST_PAUSE {
                    pause = FIRST_PAUSE;
                }
                eprintln!("trellis: the example server ended ({ended}); it is started again in {pause:?}");
            }
            self.example = None;
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LAST_PAUSE);
            match self.run().await {
                Ok(example) => eprintln!(
                    "trellis: the example server is back: {}, process {}",
                    example.url(),
                    example.id()
                ),
                Err(problem) => eprintln!("trellis: {problem}; it is tried again in {pause:?}"),
            }
        }
    }

    /// Ends it, in good order if it can.
    pub(super) async fn stop(self) {
        if let Some(example) = self.example {
            example.stop().await;
        }
    }

    async fn run(&mut self) -> Outcome<&Example> {
        let example = Example::start(&self.state, &self.front_proxy_ca).await?;
        let door = DoorArgs { kubeconfig: Some(self.kubeconfig.clone()), context: None };
        let client = Door::find(&door).await?;
        let mut registration = Registration::new(NAME.to_owned(), &[example.url().to_owned()]);
        registration.trust(&example.authority()?);
        store(&client, &registration, true).await?;
        wait(&client, NAME, PATIENCE).await?;
        Ok(self.example.insert(example))
    }
}
