//! How the texts of a child become one.

/// The line end of the machine that runs the application.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Platform {
    /// A line feed.
    #[default]
    Unix,
    /// A carriage return and a line feed.
    Windows,
}

impl Platform {
    /// `Environment.NewLine`.
    pub const fn line_end(self) -> &'static str {
        match self {
            Platform::Unix => "\n",
            Platform::Windows => "\r\n",
        }
    }
}

/// The text of a response: that of all its messages. Only text contents count: no reasoning, no calls, no results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joining {
    /// `AgentResponse.Text`: the texts of one message with nothing between, messages that have text by a line end.
    DotNet(Platform),
    /// `AgentResponse.text`: the texts of one message by a blank (empty ones too), messages by nothing.
    Python,
}

impl Joining {
    /// The text of one message, from its text contents.
    pub fn message<'a>(self, contents: impl IntoIterator<Item = &'a str>) -> String {
        match self {
            Joining::DotNet(_) => contents.into_iter().collect(),
            Joining::Python => contents.into_iter().collect::<Vec<_>>().join(" "),
        }
    }

    /// The text of a response, from the texts of its messages.
    pub fn messages(self, messages: impl IntoIterator<Item = String>) -> String {
        match self {
            Joining::DotNet(platform) => {
                let spoken: Vec<String> = messages.into_iter().filter(|text| !text.is_empty()).collect();
                spoken.join(platform.line_end())
            }
            Joining::Python => messages.into_iter().collect(),
        }
    }
}

/// The one text content that the streamed pieces of a message become: nothing stands between them (run).
pub fn streamed<'a>(pieces: impl IntoIterator<Item = &'a str>) -> String {
    pieces.into_iter().collect()
}
