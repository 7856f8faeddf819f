//! The contract: what is read, what is written, and that every generated file says the same.

mod answers;
mod generate;
mod generated;
mod lenient;
mod methods;
mod reading;
mod rows;
mod schemas;
