//! The input bridge as a whole: clients that are asked, servers that ask, and a gateway's loop between them, in arbitrary
//! orders of all their actions. No message may be lost, delivered twice, or reach another party.

mod parked;
mod rounds;
mod world;
