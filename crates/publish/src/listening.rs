//! Start of a publication for Foxglove.

use super::address::Address;
use super::error::PublishError;
use super::foxglove::{Foxglove, PublishOptions};
use super::publication::{Publication, Shared};
use super::server::ListenerThread;
use super::token::Token;
use super::worker::Worker;
use std::net::TcpListener;
use std::sync::Arc;

impl Publication<Foxglove> {
    /// Starts to listen; topics are offered once the first pair has arrived.
    ///
    /// # Errors
    /// The address is in use or does not belong to this machine, or the system provides no thread or no random bytes.
    pub fn start(options: impl Into<PublishOptions>) -> Result<Arc<Self>, PublishError> {
        let mut options = options.into();
        let address = &mut options.address;
        let socket = TcpListener::bind(address.socket).map_err(|err| PublishError::Address(address.socket, err))?;
        address.socket.set_port(socket.local_addr()?.port());
        if options.token.is_none() && !address.is_private() {
            options.token = Some(Token::random()?);
        }
        let shared = Arc::new(Shared::new(Foxglove::new(options)));
        let invitation = shared.link.invitation();
        if shared.link.token.is_some() {
            shared.panel.notify(invitation.clone());
        }
        let server = ListenerThread::start(socket, Arc::clone(&shared))?;
        let worker = Worker::new(Arc::clone(&shared), server);
        Ok(Self::with_thread(shared, invitation, move || worker.run())?)
    }

    /// Returns the address with the port that is listened on, never 0.
    pub fn address(&self) -> &Address {
        &self.shared.link.address
    }
}
