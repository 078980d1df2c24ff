//! `trellis cluster init`.

use std::{
    io::{self, BufRead, IsTerminal as _, Write},
    path::Path,
};

use cluster_spec::StarterHost;

use crate::{
    args::ClusterInitArgs,
    commands::print,
    exit::{Code, Outcome, Problem},
    output,
};

/// File of the schema, beside the object.
const SCHEMA_FILE: &str = "cluster.schema.json";

/// Writes an object and its schema.
pub(super) fn run(mut args: ClusterInitArgs) -> Outcome {
    if args.name.is_none() || args.hosts.is_empty() {
        if !io::stdin().is_terminal() {
            return Err(Problem::new(Code::Usage, "--name and at least one --host are needed")
                .next("trellis cluster init --name demo --host cp1=10.0.0.1"));
        }
        ask(&mut args, &mut io::stdin().lock(), &mut io::stderr())
            .map_err(|error| Problem::new(Code::Failure, format!("cannot ask: {error}")))?;
    }
    let as_json = args.output.extension().is_some_and(|extension| extension == "json");
    let name = args.name.unwrap_or_default();
    let text = cluster_spec::starter(Some(SCHEMA_FILE), &name, &args.hosts, as_json);
    refuse_mistakes(&text)?;
    write_new(&args.output, &text)?;
    let schema = args.output.with_file_name(SCHEMA_FILE);
    fs_err::write(&schema, output::json(cluster_spec::object_schema()))
        .map_err(|error| Problem::new(Code::Failure, error))?;
    let file = args.output.display();
    print(&format!(
        "wrote {file}, and {} for editors\nnext: trellis cluster validate {file}\n",
        schema.display()
    ))
}

/// What was typed must be good before it is written.
fn refuse_mistakes(text: &str) -> Outcome {
    let Err(findings) = cluster_spec::read(text, None) else { return Ok(()) };
    for finding in &findings {
        eprintln!("{finding}");
    }
    Err(Problem::new(Code::Input, "nothing was written").next("correct --name and --host"))
}

fn write_new(path: &Path, text: &str) -> Outcome {
    let written = fs_err::OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Problem::new(Code::Conflict, format!("{} is there already", path.display()))
                .next("edit it, or choose another file with --output")
        }
        _ => Problem::new(Code::Failure, error),
    })?;
    file.write_all(text.as_bytes()).map_err(|error| Problem::new(Code::Failure, error))
}

/// Asks for what is missing, one line each.
fn ask(args: &mut ClusterInitArgs, answers: &mut impl BufRead, questions: &mut impl Write) -> io::Result<()> {
    if args.name.is_none() {
        args.name = Some(
            line("Name of the cluster [demo]: ", answers, questions)?.unwrap_or_else(|| "demo".to_owned()),
        );
    }
    while args.hosts.is_empty() {
        let question = "Address of the control-plane host, as the other hosts reach it: ";
        let Some(address) = line(question, answers, questions)? else { continue };
        args.hosts.push(StarterHost { name: "cp1".to_owned(), address });
        let question = "Address of a node [no more]: ";
        while let Some(address) = line(question, answers, questions)? {
            args.hosts.push(StarterHost { name: format!("n{}", args.hosts.len()), address });
        }
    }
    Ok(())
}

/// An answer; none when it is empty.
fn line(
    question: &str,
    answers: &mut impl BufRead,
    questions: &mut impl Write,
) -> io::Result<Option<String>> {
    questions.write_all(question.as_bytes())?;
    questions.flush()?;
    let mut answer = String::new();
    if answers.read_line(&mut answer)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    let answer = answer.trim();
    Ok((!answer.is_empty()).then(|| answer.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(answers: &str, expected: io::Result<(&str, &[&str])>) {
        let mut args = ClusterInitArgs { name: None, hosts: Vec::new(), output: "cluster.yaml".into() };
        let mut questions = Vec::new();
        let asked = ask(&mut args, &mut answers.as_bytes(), &mut questions);
        assert!(String::from_utf8_lossy(&questions).starts_with("Name of the cluster"));
        match expected {
            Ok((name, addresses)) => {
                asked.expect("answers enough");
                assert_eq!(args.name.as_deref(), Some(name), "{answers}");
                let found: Vec<&str> = args.hosts.iter().map(|host| host.address.as_str()).collect();
                assert_eq!(found, addresses, "{answers}");
            }
            Err(_) => assert!(asked.is_err(), "{answers}"),
        }
    }

    #[test]
    fn what_is_missing_is_asked_for() {
        check("\n10.0.0.1\n\n", Ok(("demo", &["10.0.0.1"])));
        check("lab\n\n10.0.0.1\n10.0.0.2\n10.0.0.3\n\n", Ok(("lab", &["10.0.0.1", "10.0.0.2", "10.0.0.3"])));
        check("lab\n", Err(io::ErrorKind::UnexpectedEof.into()));
    }
}
