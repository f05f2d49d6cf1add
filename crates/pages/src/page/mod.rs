//! The pages: one function for each, from its data to HTML. They must not know how the data is gathered, or anything of HTTP beyond
//! addresses.

mod access;
mod call;
mod calls;
mod configuration;
mod connect;
mod definitions;
mod doctor;
mod keys;
mod limits;
mod live;
mod login;
mod logins;
mod overview;
mod playground;
mod profile;
mod profiles;
mod replicas;
mod server;
mod server_config;
mod servers;
mod sessions;
mod tool;
mod tools;

pub use access::access;
pub use call::call;
pub use calls::calls;
pub use configuration::configuration;
pub use connect::{connect, connect_test};
pub use doctor::doctor;
pub use keys::keys;
pub use limits::limits;
pub use live::{live, live_row};
pub use login::{enter, error, login};
pub use logins::logins;
pub use overview::{overview, overview_now};
pub use playground::{playground, playground_run};
pub use profile::profile;
pub use profiles::profiles;
pub use replicas::replicas;
pub use server::server;
pub use servers::servers;
pub use sessions::sessions;
pub use tool::tool;
pub use tools::tools;
