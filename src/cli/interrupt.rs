//! The first interrupt ends a run at the next cell; the second ends the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::{Error, Exit};

/// Watches for interrupts while it lives.
pub struct Interrupts {
    /// Set as soon as one came.
    pub stop: Arc<AtomicBool>,
    which: Arc<AtomicUsize>,
}

impl Interrupts {
    /// Begins to watch.
    pub fn watch() -> Result<Interrupts, Error> {
        let stop = Arc::new(AtomicBool::new(false));
        let which = Arc::new(AtomicUsize::new(0));
        for (signal, exit) in [(SIGINT, Exit::Interrupted), (SIGTERM, Exit::Terminated)] {
            // In this order: the second signal finds the flag set by the first.
            let registered = flag::register_conditional_shutdown(signal, i32::from(exit as u8), stop.clone())
                .and_then(|_| flag::register_usize(signal, which.clone(), usize::from(exit as u8)))
                .and_then(|_| flag::register(signal, stop.clone()));
            registered.map_err(|why| Error::Internal(format!("signals cannot be watched: {why}")))?;
        }
        Ok(Interrupts { stop, which })
    }

    /// What to exit with if an interrupt came.
    pub fn exit(&self) -> Option<Exit> {
        match self.which.load(Ordering::Relaxed) {
            code if code == usize::from(Exit::Interrupted as u8) => Some(Exit::Interrupted),
            code if code == usize::from(Exit::Terminated as u8) => Some(Exit::Terminated),
            _ => None,
        }
    }
}
