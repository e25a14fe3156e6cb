//! What the three families of APIs have in common: what a request holds, entry by entry.

/// One entry, with texts of a recording or parts of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Entry<T> {
    /// A message.
    Message {
        /// Who speaks.
        role: String,
        /// Commentary or final answer, where the wire says so.
        phase: Option<String>,
        /// The name beside the role.
        name: Option<String>,
        /// Its content.
        parts: Vec<T>,
    },
    /// Reasoning that is handed back.
    Reasoning {
        /// Its content.
        parts: Vec<T>,
    },
    /// A call.
    Call {
        /// Its id on the wire.
        id: String,
        /// The tool.
        name: String,
        /// The name beside the role, of a message that holds calls alone.
        speaker: Option<String>,
        /// The arguments as JSON text.
        args: T,
    },
    /// A call's result.
    Result {
        /// The id of the call.
        id: String,
        /// Its content.
        parts: Vec<T>,
    },
    /// A message between agents.
    Mail {
        /// Who wrote it.
        from: String,
        /// For whom.
        to: String,
        /// Its content.
        parts: Vec<T>,
    },
    /// A call that the server kept and no request repeats.
    UnseenCall {
        /// Its id on the wire.
        id: String,
    },
    /// An answer that the server kept and no request repeats.
    UnseenText,
}

impl<T> Entry<T> {
    /// Whether a model wrote it, as far as the wire shows.
    pub(super) fn is_own(&self) -> bool {
        match self {
            Entry::Message { role, .. } => role == "assistant",
            Entry::Reasoning { .. } | Entry::Call { .. } | Entry::UnseenCall { .. } | Entry::UnseenText => true,
            Entry::Result { .. } | Entry::Mail { .. } => false,
        }
    }

    /// Its content; a call's is its arguments.
    pub(super) fn parts(&self) -> &[T] {
        match self {
            Entry::Message { parts, .. } | Entry::Reasoning { parts } | Entry::Result { parts, .. } | Entry::Mail { parts, .. } => parts,
            Entry::Call { args, .. } => std::slice::from_ref(args),
            Entry::UnseenCall { .. } | Entry::UnseenText => &[],
        }
    }

    /// The same entry with other content.
    pub(super) fn map<U>(&self, change: impl Fn(&T) -> U) -> Entry<U> {
        let all = |parts: &[T]| parts.iter().map(&change).collect();
        match self {
            Entry::Message { role, phase, name, parts } => {
                Entry::Message { role: role.clone(), phase: phase.clone(), name: name.clone(), parts: all(parts) }
            }
            Entry::Reasoning { parts } => Entry::Reasoning { parts: all(parts) },
            Entry::Call { id, name, speaker, args } => {
                Entry::Call { id: id.clone(), name: name.clone(), speaker: speaker.clone(), args: change(args) }
            }
            Entry::Result { id, parts } => Entry::Result { id: id.clone(), parts: all(parts) },
            Entry::Mail { from, to, parts } => Entry::Mail { from: from.clone(), to: to.clone(), parts: all(parts) },
            Entry::UnseenCall { id } => Entry::UnseenCall { id: id.clone() },
            Entry::UnseenText => Entry::UnseenText,
        }
    }
}

/// An entry and where it stands in its file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placed<T> {
    /// Its place.
    pub(super) at: String,
    /// The places of its parts.
    pub(super) parts_at: Vec<String>,
    /// The entry.
    pub(super) entry: Entry<T>,
}
