//! TypeScript declarations of the contract's types.
//!
//! Owns the collecting of declarations, each once and in the order of their names. Must not know what is done with
//! them.

use std::collections::BTreeMap;

use ts_rs::{Config, TS, TypeVisitor};

/// Declarations of TypeScript types, by name.
pub struct Declarations {
    config: Config,
    by_name: BTreeMap<String, String>,
}

impl Declarations {
    /// No declarations yet.
    #[must_use]
    pub fn new() -> Self {
        // JSON knows no bigint; every number of the contract is below 2^53.
        Self {
            config: Config::new().with_large_int("number"),
            by_name: BTreeMap::new(),
        }
    }

    /// The name of a type; it and what it is made of are declared on the way.
    pub fn declare<T: TS + 'static>(&mut self) -> String {
        self.visit::<T>();
        T::name(&self.config)
    }

    /// The declarations, in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.by_name.values().map(String::as_str)
    }
}

impl Default for Declarations {
    fn default() -> Self {
        Self::new()
    }
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        let declared =
            T::output_path().is_none() || self.by_name.contains_key(&T::ident(&self.config));
        if !declared {
            let docs = T::docs().unwrap_or_default();
            let declaration = format!("{docs}export {}", T::decl(&self.config));
            self.by_name.insert(T::ident(&self.config), declaration);
        }
        if !declared || T::output_path().is_none() {
            T::visit_dependencies(self);
            T::visit_generics(self);
        }
    }
}
