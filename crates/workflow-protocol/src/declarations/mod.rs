//! TypeScript declarations of types, each once and in the order of their names.

mod layout;

use std::any::TypeId;
use std::collections::BTreeMap;

use layout::laid_out;
use ts_rs::{Config, TS, TypeVisitor};

/// Declarations of TypeScript types, by name.
pub struct Declarations {
    config: Config,
    by_name: BTreeMap<String, (TypeId, String)>,
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
        self.by_name
            .values()
            .map(|(_, declaration)| declaration.as_str())
    }
}

impl Default for Declarations {
    fn default() -> Self {
        Self::new()
    }
}

impl TypeVisitor for Declarations {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        // Only a type that ts-rs would put into its own file is declared; any other is written in place.
        if T::output_path().is_some() {
            let name = T::ident(&self.config);
            if let Some((known, _)) = self.by_name.get(&name) {
                assert_eq!(*known, TypeId::of::<T>(), "two types are called `{name}`");
                return;
            }
            let docs = T::docs().unwrap_or_default();
            let declaration = laid_out(&format!("{docs}export {}", T::decl(&self.config)));
            self.by_name.insert(name, (TypeId::of::<T>(), declaration));
        }
        T::visit_dependencies(self);
        T::visit_generics(self);
    }
}
