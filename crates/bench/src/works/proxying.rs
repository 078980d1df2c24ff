//! CPU per proxied request, and requests per second.

use anyhow::{Result, ensure};

use crate::{
    DoorArgs,
    client::{Connection, Http, burst, connections},
    peers::{Aggregator, Buffering, Door, Lab, Nginx, free_ports},
    process::{Process, Usage},
    report::{Goal, Report},
    stats::{estimate, ratios},
};

const GET: &str = "/apis/g0.bench.example.com/v1/namespaces/default/items/a";
const LIST: &str = "/apis/g0.bench.example.com/v1/items";

/// GETs of 1 kB over 1, 16 and 64 connections of both versions of HTTP.
pub async fn get(lab: &Lab, args: &DoorArgs, report: &mut Report) -> Result<()> {
    let pair = Pair::start(lab, args, Buffering::On, GET).await?;
    let aggregator = match Aggregator::start(lab, GET).await {
        Ok(aggregator) => Some(aggregator),
        Err(reason) => {
            report.skipped("GET 1 kB: CPU, kube-apiserver's aggregator / door", &format!("{reason:#}"));
            None
        }
    };
    for http in [Http::One, Http::Two] {
        for (count, goal) in [(1, 1.4), (16, 1.15), (64, 1.15)] {
            let rounds = pair.rounds(http, count, GET, args.rounds, 4000).await?;
            let name = format!("GET 1 kB, {http}, {count} connections");
            report.ratio(&format!("{name}: CPU, door / nginx"), rounds.cpu(), Goal::AtMost(goal));
            report.figure(&format!("{name}: CPU of the door per 1,000"), rounds.door_cpu(), "s", Goal::None);
            if count == 16 {
                report.ratio(&format!("{name}: requests/s, door / nginx"), rounds.rate(), Goal::AtLeast(1.0));
            }
            if let Some(aggregator) = &aggregator {
                let times = pair.against(aggregator, http, count, args.rounds, 1000).await?;
                report.ratio(&format!("{name}: CPU, aggregator / door"), times, Goal::AtLeast(8.0));
            }
        }
    }
    Ok(())
}

/// Lists of 1 MB over 16 connections.
pub async fn list(lab: &Lab, args: &DoorArgs, report: &mut Report) -> Result<()> {
    let pair = Pair::start(lab, args, Buffering::On, GET).await?;
    for http in [Http::One, Http::Two] {
        let rounds = pair.rounds(http, 16, LIST, args.rounds, 160).await?;
        report.ratio(&format!("list 1 MB, {http}: CPU, door / nginx"), rounds.cpu(), Goal::AtMost(0.7));
    }
    Ok(())
}

struct Pair {
    _backend: Process,
    nginx: Nginx,
    door: Door,
}

#[derive(Default)]
struct Rounds {
    door: Vec<Round>,
    nginx: Vec<Round>,
}

struct Round {
    cpu_per_thousand: f64,
    rate: f64,
}

impl Rounds {
    fn cpu(&self) -> crate::stats::Estimate {
        let cpu = |rounds: &[Round]| rounds.iter().map(|round| round.cpu_per_thousand).collect::<Vec<_>>();
        ratios(&cpu(&self.door), &cpu(&self.nginx))
    }

    fn rate(&self) -> crate::stats::Estimate {
        let rate = |rounds: &[Round]| rounds.iter().map(|round| round.rate).collect::<Vec<_>>();
        ratios(&rate(&self.door), &rate(&self.nginx))
    }

    fn door_cpu(&self) -> f64 {
        estimate(&self.door.iter().map(|round| round.cpu_per_thousand).collect::<Vec<_>>()).median
    }
}

impl Pair {
    async fn start(lab: &Lab, args: &DoorArgs, buffering: Buffering, path: &str) -> Result<Self> {
        let address = free_ports(1)?;
        let backend = lab.backend("backend", address, &[])?;
        lab.admin(address)?.wait(path, std::time::Duration::from_secs(10)).await?;
        let nginx = Nginx::start(lab, address, buffering, path).await?;
        let door = Door::start(lab, &args.trellis, &format!("door-{}", address.port())).await?;
        door.register(lab, "bench", &[address]).await?;
        door.target.wait(path, std::time::Duration::from_secs(10)).await?;
        Ok(Self { _backend: backend, nginx, door })
    }

    async fn rounds(
        &self,
        http: Http,
        count: usize,
        path: &str,
        rounds: usize,
        requests: usize,
    ) -> Result<Rounds> {
        let mut door = connections(&self.door.target, http, count).await?;
        let mut nginx = connections(&self.nginx.target, http, count).await?;
        let mut found = Rounds::default();
        let of_door = || self.door.process.usage();
        let of_nginx = || self.nginx.process.usage();
        measure(&of_door, &mut door, path, requests).await?;
        measure(&of_nginx, &mut nginx, path, requests).await?;
        for _ in 0..rounds {
            found.door.push(measure(&of_door, &mut door, path, requests).await?);
            found.nginx.push(measure(&of_nginx, &mut nginx, path, requests).await?);
        }
        Ok(found)
    }

    /// How many times the door's processor time kube-apiserver needs for the same request.
    async fn against(
        &self,
        aggregator: &Aggregator,
        http: Http,
        count: usize,
        rounds: usize,
        requests: usize,
    ) -> Result<crate::stats::Estimate> {
        let mut door = connections(&self.door.target, http, count).await?;
        let mut other = connections(&aggregator.target, http, count).await?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        measure(|| aggregator.usage(), &mut other, GET, requests).await?;
        for _ in 0..rounds {
            theirs.push(measure(|| aggregator.usage(), &mut other, GET, requests).await?.cpu_per_thousand);
            ours.push(
                measure(|| self.door.process.usage(), &mut door, GET, requests).await?.cpu_per_thousand,
            );
        }
        Ok(ratios(&theirs, &ours))
    }
}

async fn measure(
    usage: impl Fn() -> Result<Usage>,
    connections: &mut [Connection],
    path: &str,
    requests: usize,
) -> Result<Round> {
    let before = usage()?;
    let burst = burst(connections, path, requests).await;
    let after = usage()?;
    ensure!(burst.errors == 0, "{} of {} requests failed", burst.errors, requests);
    let cpu = after.cpu_seconds - before.cpu_seconds;
    Ok(Round {
        cpu_per_thousand: cpu * 1000.0 / burst.requests as f64,
        rate: burst.requests as f64 / burst.seconds,
    })
}
