//! The input bridge as a whole: clients that are asked, servers that ask, and a gateway's loop between them, in arbitrary
//! orders of everything that each of them can do. Nothing may be lost, given twice, or reach anybody else.

mod parked;
mod rounds;
mod world;
