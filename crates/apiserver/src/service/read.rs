//! `get` and `list`.

use super::{Asked, Service, respond, respond::Outcome};
use crate::{answer::Wish, options::ListOptions};

impl Service {
    pub(super) async fn get(&self, asked: &Asked<'_>) -> Outcome {
        let wish = Wish::negotiate(&asked.head.headers, asked.query)?;
        let item = self.engine.get(&asked.call("")).await?;
        Ok(respond::object(200, asked.served.one(&item, wish.shape)?, wish.encoding))
    }

    pub(super) async fn list(&self, asked: &Asked<'_>) -> Outcome {
        let wish = Wish::negotiate(&asked.head.headers, asked.query)?;
        let options = ListOptions::read(asked.query, false, asked.definition(), "")?;
        let listed = self.engine.list(&asked.call(""), &options).await?;
        Ok(respond::object(200, asked.served.list(&listed, wish.shape)?, wish.encoding))
    }
}
