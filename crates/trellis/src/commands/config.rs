//! `trellis config`.

use std::path::Path;

use super::print;
use crate::{
    args::{ConfigArgs, ConfigWhat},
    config::{self, Settings},
    exit::{Code, Outcome, Problem},
    output,
};

/// Checks a file, or prints the schema.
pub(super) fn run(args: ConfigArgs) -> Outcome {
    match args.what {
        ConfigWhat::Schema => print(&output::json(&config::schema())),
        ConfigWhat::Check { file } => {
            check(&file)?;
            print(&format!("{}: good\n", file.display()))
        }
    }
}

/// Reads the file and everything it names. Only the address and the servers are left to find out.
fn check(file: &Path) -> Outcome {
    let settings = Settings::new(config::read(file)?).map_err(|problem| problem.in_file(file))?;
    let named = |flag: &str, path: &Path, cause: String| {
        let key = config::key_of(flag);
        Problem::new(Code::Input, format!("{}: {key}: {}: {cause}", file.display(), path.display()))
            .next("correct the path or the file it names")
    };
    for (flag, path) in settings.files() {
        pki::read_limited(path).map_err(|error| {
            let place = format!("{}: {}", file.display(), config::key_of(flag));
            Problem::new(Code::Input, format!("{place}: {error}"))
                .next("correct the path or the file it names")
        })?;
    }
    if let Some(folder) = &settings.registrations
        && !folder.is_dir()
    {
        return Err(named("--registrations", folder, "it is no folder".to_owned()));
    }
    crate::wiring::check_certificates(&settings).map_err(|problem| problem.in_file(file))
}
