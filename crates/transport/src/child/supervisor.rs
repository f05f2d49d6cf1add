//! Starts children, counts them, and ends them all. Owns the thread on which children are started and reaped.

use std::{
    any::Any,
    io,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio::{
    net::unix::pipe,
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

use super::{
    handle::{Child, Handle},
    life::{self, Launched},
    limits::Limits,
    lines::Lines,
    spec::Spec,
    start_error::{self, SpawnError},
    starter::{self, Starter},
    writer::{self, WriterCapacity},
};

/// The time that killed children may take to be reaped.
const REAPING: Duration = Duration::from_secs(3);

/// The time that the guardian may take to end once it has nothing to guard.
const CLOSING: Duration = Duration::from_secs(3);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Running,
    /// Every child is being stopped, and none is started.
    Stopping,
    /// Children get no grace period.
    Killing,
}

/// A value that is kept as long as a process of a child exists.
pub type Companion = Arc<dyn Any + Send + Sync>;

/// One child's share of the count, from the request to start the child until its group is gone.
pub(super) struct Slot {
    count: watch::Sender<usize>,
    _companion: Option<Companion>,
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.count.send_modify(|count| *count -= 1);
    }
}

struct Launch {
    spec: Spec,
    limits: Limits,
    slot: Slot,
    reply: oneshot::Sender<Result<Launched, SpawnError>>,
}

/// The owner of all children: starts and ends them. The whole gateway has one supervisor, which its clones share.
/// Dropping the last clone stops all children in the background.
#[derive(Clone, Debug)]
pub struct Supervisor(Arc<Core>);

#[derive(Debug)]
struct Core {
    /// The channel to the supervisor's thread, which starts with the first child.
    launches: Mutex<Option<mpsc::UnboundedSender<Launch>>>,
    phase: watch::Sender<Phase>,
    count: watch::Sender<usize>,
    max: AtomicUsize,
    /// True if children get a guardian, provided that this program can run as a guardian.
    guarded: bool,
}

impl Drop for Core {
    fn drop(&mut self) {
        self.phase.send_if_modified(|phase| {
            let running = *phase == Phase::Running;
            if running {
                *phase = Phase::Stopping;
            }
            running
        });
    }
}

impl Supervisor {
    /// Creates a supervisor of at most `max` children at a time, including those that are still ending. On Linux, in a
    /// program that calls [`guardian::enter`](super::guardian::enter), children end with all of their descendants,
    /// even if this process is killed; otherwise, they end with their process groups.
    pub fn new(max: usize) -> Self {
        let supervisor = Self::with(max, true);
        // The supervisor's thread reaps all orphans, even if there is never a child.
        if starter::is_first()
            && let Err(error) = supervisor.thread()
        {
            tracing::warn!(%error, "processes that are orphaned in this container are not reaped");
        }
        supervisor
    }

    /// Creates a supervisor of children that are ended by their process groups.
    #[cfg(test)]
    pub(super) fn with_groups(max: usize) -> Self {
        Self::with(max, false)
    }

    fn with(max: usize, guarded: bool) -> Self {
        let (phase, count) = (watch::Sender::new(Phase::Running), watch::Sender::new(0));
        Self(Arc::new(Core { launches: Mutex::new(None), phase, count, max: AtomicUsize::new(max), guarded }))
    }

    /// Starts a program and registers its pipes with the calling runtime.
    ///
    /// # Errors
    /// Returns a [`SpawnError`], which names the problem and its fix.
    pub async fn spawn(&self, spec: &Spec, limits: Limits) -> Result<Child, SpawnError> {
        self.spawn_with(spec, limits, None).await
    }

    /// Starts a program like [`Supervisor::spawn`], and keeps `companion` until none of the child's processes is left.
    ///
    /// # Errors
    /// Returns a [`SpawnError`], which names the problem and its fix.
    pub async fn spawn_with(
        &self,
        spec: &Spec,
        limits: Limits,
        companion: Option<Companion>,
    ) -> Result<Child, SpawnError> {
        let slot = self.slot(companion)?;
        let (reply, launched) = oneshot::channel();
        self.thread()
            .map_err(|error| start_error::explain(spec, error))?
            .send(Launch { spec: spec.clone(), limits, slot, reply })
            .map_err(|_| SpawnError::ShuttingDown)?;
        let launched = launched.await.map_err(|_| SpawnError::ShuttingDown)??;
        adopt(launched, &limits).map_err(|error| start_error::explain(spec, error))
    }

    /// Changes the maximum number of children. Running children continue.
    pub fn set_max(&self, max: usize) {
        self.0.max.store(max, Relaxed);
        // Tasks that wait for a free slot check again.
        self.0.count.send_modify(|_| ());
    }

    /// Returns the number of children, including those that are being started or are still ending.
    pub fn count(&self) -> usize {
        *self.0.count.borrow()
    }

    /// Waits until another child may be started; returns `false` if the deadline passes first.
    pub async fn room(&self, deadline: Duration) -> bool {
        let mut count = self.0.count.subscribe();
        let has_room = |count: &usize| *count < self.0.max.load(Relaxed);
        timeout(deadline, count.wait_for(has_room)).await.is_ok()
    }

    /// Stops all children, and waits until they have ended. Children that still run at `deadline` are killed
    /// without further grace. After this call, no child can be started. Returns the number of children that could
    /// not be ended.
    pub async fn shutdown(&self, deadline: Duration) -> usize {
        let mut count = self.0.count.subscribe();
        self.0.phase.send_if_modified(|phase| {
            let running = *phase == Phase::Running;
            if running {
                *phase = Phase::Stopping;
            }
            running
        });
        if timeout(deadline, count.wait_for(|count| *count == 0)).await.is_err() {
            self.0.phase.send_replace(Phase::Killing);
            // If this times out, the count shows it.
            let _ = timeout(REAPING, count.wait_for(|count| *count == 0)).await;
        }
        *count.borrow()
    }

    fn slot(&self, companion: Option<Companion>) -> Result<Slot, SpawnError> {
        if *self.0.phase.borrow() != Phase::Running {
            return Err(SpawnError::ShuttingDown);
        }
        let max = self.0.max.load(Relaxed);
        let free = self.0.count.send_if_modified(|count| {
            let free = *count < max;
            *count += usize::from(free);
            free
        });
        if !free {
            return Err(SpawnError::TooMany { max });
        }
        Ok(Slot { count: self.0.count.clone(), _companion: companion })
    }

    /// Returns the channel to the thread. The first use starts the thread.
    fn thread(&self) -> io::Result<mpsc::UnboundedSender<Launch>> {
        let mut launches = self.0.launches.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = &*launches {
            return Ok(sender.clone());
        }
        let (sender, receiver) = mpsc::unbounded_channel();
        let (phase, count) = (self.0.phase.clone(), self.0.count.subscribe());
        start_thread(receiver, phase, count, self.0.guarded)?;
        Ok(launches.insert(sender).clone())
    }
}

fn start_thread(
    launches: mpsc::UnboundedReceiver<Launch>,
    phase: watch::Sender<Phase>,
    count: watch::Receiver<usize>,
    guarded: bool,
) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let body = move || runtime.block_on(run(launches, phase, count, guarded));
    std::thread::Builder::new().name("children".into()).stack_size(256 << 10).spawn(body)?;
    Ok(())
}

/// The main loop of the thread: starts the requested children. Once no supervisor is left, the loop continues until
/// the last child is gone.
async fn run(
    mut launches: mpsc::UnboundedReceiver<Launch>,
    phase: watch::Sender<Phase>,
    mut count: watch::Receiver<usize>,
    guarded: bool,
) {
    let mut starter = Starter::new(guarded);
    loop {
        let launch = tokio::select! {
            biased;
            launch = launches.recv() => launch,
            () = starter.reap() => None,
        };
        let Some(launch) = launch else { break };
        begin(launch, &mut starter, phase.subscribe()).await;
    }
    tokio::select! {
        // An error means that nothing counts children anymore, so none is left.
        _ = count.wait_for(|count| *count == 0) => {}
        () = starter.reap() => {}
    }
    starter.close(CLOSING).await;
}

/// Begins to start a child. A separate task waits for the child's program, so that the next start need not wait for a
/// slow file system.
async fn begin(launch: Launch, starter: &mut Starter, phase: watch::Receiver<Phase>) {
    let Launch { spec, limits, slot, reply } = launch;
    let server = starter.start(&spec, &limits).await;
    crate::task::spawn(async move {
        let outcome = match server {
            Ok(server) => life::launch(&spec, server, limits, slot, phase).await,
            Err(error) => {
                drop(slot);
                Err(error)
            }
        };
        // If the caller is gone, dropping the reply stops the child.
        let _ = reply.send(outcome);
    });
}

/// Registers a started child with the calling runtime.
fn adopt(launched: Launched, limits: &Limits) -> io::Result<Child> {
    let stdin = pipe::Sender::from_owned_fd(launched.stdin)?;
    let stdout = pipe::Receiver::from_owned_fd(launched.stdout)?;
    let shared = launched.alive.take_over().ok_or(io::ErrorKind::BrokenPipe)?;
    let room = Arc::new(WriterCapacity::new(limits.queue_bytes));
    let (queue, waiting) = mpsc::unbounded_channel();
    let handle = Handle::new(queue, room.clone(), shared.clone(), limits);
    let lines = Lines::new(stdout, shared.clone(), limits);
    crate::task::spawn(writer::run(stdin, waiting, room, shared.stage.subscribe()));
    Ok(Child { handle, lines })
}
