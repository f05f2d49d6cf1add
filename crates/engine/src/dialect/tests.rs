//! Each line of the five systems that is about messages, and what must hold for any row.
