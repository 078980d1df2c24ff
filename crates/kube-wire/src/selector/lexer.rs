//! The words of a label selector.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    Word(&'a str),
    Comma,
    Open,
    Close,
    Not,
    Equal,
    NotEqual,
    Greater,
    Less,
    End,
}

impl<'a> Token<'a> {
    /// The text, for messages.
    pub(super) fn text(self) -> &'a str {
        match self {
            Self::Word(word) => word,
            Self::Comma => ",",
            Self::Open => "(",
            Self::Close => ")",
            Self::Not => "!",
            Self::Equal => "=",
            Self::NotEqual => "!=",
            Self::Greater => ">",
            Self::Less => "<",
            Self::End => "",
        }
    }
}

/// Reads tokens, with one token of lookahead.
pub(super) struct Lexer<'a> {
    rest: &'a str,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { rest: text }
    }

    pub(super) fn peek(&self) -> Token<'a> {
        self.read().0
    }

    pub(super) fn next(&mut self) -> Token<'a> {
        let (token, rest) = self.read();
        self.rest = rest;
        token
    }

    fn read(&self) -> (Token<'a>, &'a str) {
        const SYMBOLS: [(&str, Token<'_>); 9] = [
            ("!=", Token::NotEqual),
            ("==", Token::Equal),
            ("=", Token::Equal),
            ("!", Token::Not),
            (">", Token::Greater),
            ("<", Token::Less),
            (",", Token::Comma),
            ("(", Token::Open),
            (")", Token::Close),
        ];
        let text = self.rest.trim_start_matches([' ', '\t', '\r', '\n']);
        if text.is_empty() {
            return (Token::End, text);
        }
        for (symbol, token) in SYMBOLS {
            if let Some(rest) = text.strip_prefix(symbol) {
                return (token, rest);
            }
        }
        let end = text.find([' ', '\t', '\r', '\n', '=', '!', '(', ')', ',', '>', '<']).unwrap_or(text.len());
        let (word, rest) = text.split_at(end);
        (Token::Word(word), rest)
    }
}
