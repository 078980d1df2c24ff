//! Logs: to standard error, filtered as `--log` or `TRELLIS_LOG` says, as text or JSON lines.

use std::io::{self, IsTerminal};

use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{
    config::LogFormat,
    exit::{Code, Outcome, Problem},
};

/// Starts logging. `filter` is a tracing filter, for instance `info` or `warn,gateway=debug`.
pub(crate) fn start(filter: &str, format: LogFormat) -> Outcome {
    let filter = EnvFilter::try_new(filter).map_err(|error| {
        Problem::new(Code::Input, format!("cannot use the log filter `{filter}`: {error}")).next(
            "write a level (error, warn, info, debug, trace), or `target=level` pairs with commas between",
        )
    })?;
    let subscriber = tracing_subscriber::registry().with(filter);
    // A second start in one process (tests) keeps the first.
    let _ = match format {
        LogFormat::Json => {
            subscriber.with(fmt::layer().json().flatten_event(true).with_writer(io::stderr)).try_init()
        }
        LogFormat::Text => subscriber
            .with(
                fmt::layer().with_target(false).with_ansi(io::stderr().is_terminal()).with_writer(io::stderr),
            )
            .try_init(),
    };
    Ok(())
}
