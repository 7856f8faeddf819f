//! What subworkflows are given and return: their inputs, the items of a loop, their outputs.

use std::borrow::Cow;

use serde_json::Value;

use super::data::{ScopeValues, text_of};
use super::{Path, RunData, ScopeLevel, Texts, Values, complete_values};
use crate::definition::{
    Catalog, ParameterKind, PhaseEntry, Subject, Subworkflow, Workflow, names_in, only_name,
};
use crate::diagnostic::shown;
use crate::template;
use crate::text::{self, shortened};
use crate::white_space::trim;

/// UTF-16 units of an item, where it is shown in one line.
const SHORT: u32 = 40;

impl ScopeValues {
    pub(super) fn item(&self) -> Option<&String> {
        self.items.get(self.number.checked_sub(1)?)
    }

    /// `3 of 7: Write the parser`.
    fn place(&self) -> Option<String> {
        let item = shortened(&shown(self.item()?), SHORT);
        Some(format!("{} of {}: {item}", self.number, self.items.len()))
    }

    /// The number of the next item.
    pub(super) fn next(&self) -> Option<usize> {
        (1..self.items.len())
            .contains(&self.number)
            .then(|| self.number + 1)
    }
}

impl RunData {
    /// The item that the innermost loop around a path is at: `Task 3 of 7: Write the parser`.
    pub(crate) fn item(&self, path: &Path, catalog: &Catalog) -> Option<String> {
        path.scopes().find_map(|scope| {
            let place = self.item_of(&scope)?;
            let key = &scope.innermost().workflow_key;
            let name = catalog.get(key).map_or(key, |workflow| &workflow.name);
            Some(format!("{} {place}", shown(name)))
        })
    }

    /// The item that the loop of a scope is at: `3 of 7: Write the parser`.
    pub(crate) fn item_of(&self, path: &Path) -> Option<String> {
        self.values.scopes.get(&path.scope_key())?.place()
    }

    /// The items that the loops around a path are at, the innermost first, each as its scope and its number.
    pub(crate) fn items_around(&self, path: &Path) -> Vec<String> {
        let scopes = std::iter::successors(Some(path.clone()), Path::left);
        let items = scopes.filter_map(|scope| {
            let key = scope.scope_key();
            let number = self.values.scopes.get(&key)?.number;
            (number > 0).then(|| format!("{key}#{number}"))
        });
        items.collect()
    }

    /// The items of the list of a reference, in the scope of a path; `None` is no loop.
    pub(super) fn items(
        &self,
        reference: &Subworkflow,
        path: &Path,
        catalog: &Catalog,
    ) -> Option<Vec<String>> {
        let list = self.value(reference.for_each.as_ref()?, path, catalog);
        let items = list.as_deref().and_then(Value::as_array);
        let items = items.into_iter().flatten();
        Some(items.map(|item| text_of(Some(item))).collect())
    }

    /// What a reference at a path gives to its subworkflow, with an item of these. The error says which value is wrong.
    pub(super) fn given(
        &self,
        reference: &Subworkflow,
        path: &Path,
        items: &[String],
        number: usize,
        catalog: &Catalog,
    ) -> Result<ScopeValues, String> {
        let mut scope = ScopeValues {
            inputs: None,
            items: items.to_vec(),
            number,
        };
        let inner = catalog.get(&reference.key);
        if let (Some(with), Some(inner)) = (&reference.with, inner) {
            let value_of = |subject: &Subject| match subject {
                Subject::Item => scope.item().map(|item| Value::from(&**item)),
                Subject::ItemNumber => Some(number.into()),
                Subject::ItemCount => Some(items.len().into()),
                other => self.value(other, path, catalog).map(Cow::into_owned),
            };
            let mut inputs = Values::new();
            for (name, written) in with {
                inputs.extend(passed(written, &value_of).map(|value| (name.clone(), value)));
            }
            let mut wrong = complete_values(&inner.inputs, &mut inputs);
            for (name, value) in &inputs {
                let most = input_limit(inner, name, catalog);
                let problem = most.and_then(|most| wrong_items(value, most));
                wrong.extend(problem.map(|problem| format!("`{name}` {problem}")));
            }
            if !wrong.is_empty() {
                let place = scope.place();
                let place = place.map_or_else(String::new, |place| format!(" {place}"));
                let name = shown(&inner.name);
                let lines = wrong.iter().map(|wrong| format!("Input {wrong}."));
                return Err(format!(
                    "{name}{place} cannot begin. {}",
                    text::join(lines, " ")
                ));
            }
            scope.inputs = Some(inputs);
        }
        Ok(scope)
    }

    /// Begins the lists of what a loop collects.
    pub(super) fn begin_lists(&mut self, reference: &Subworkflow, path: &Path, catalog: &Catalog) {
        let key = path.output_key(reference.id());
        let inner = catalog.get(&reference.key).into_iter();
        let collected = inner
            .flat_map(|inner| &inner.outputs)
            .filter(|returned| is_returned(reference, &returned.name, path, catalog));
        let lists = collected.map(|returned| (returned.name.clone(), Value::Array(Vec::new())));
        let lists: Values = lists.collect();
        self.values.outputs.insert(key, lists);
        self.values.outputs.retain(|_, values| !values.is_empty());
    }

    /// Takes over what the subworkflow of a scope returns to the reference around it, and the name of its end.
    pub(super) fn return_from(
        &mut self,
        scope: &Path,
        around: &Path,
        reference: &Subworkflow,
        end: Option<&str>,
        catalog: &Catalog,
    ) {
        let key = around.output_key(reference.id());
        let inner = catalog.get(&reference.key).into_iter();
        for returned in inner.flat_map(|inner| &inner.outputs) {
            let value = self.value(&returned.subject(), scope, catalog);
            let value = value.map(Cow::into_owned);
            let name = returned.name.clone();
            let at = self.values.scopes.get(&scope.scope_key());
            let at = at.filter(|at| at.item().is_some()).map(|at| at.number - 1);
            let outputs = self.values.outputs.entry(key.clone()).or_default();
            if reference.for_each.is_none() {
                match value {
                    Some(value) => drop(outputs.insert(name, value)),
                    None => drop(outputs.remove(&name)),
                }
            } else if is_returned(reference, &name, around, catalog) {
                let mut items = match outputs.remove(&name) {
                    Some(Value::Array(items)) => items,
                    _ => Vec::new(),
                };
                // If the files have changed, the items before may have no value.
                items.resize(at.unwrap_or(items.len()), "".into());
                items.push(text_of(value.as_ref()).into());
                outputs.insert(name, items.into());
            }
        }
        self.values.outputs.retain(|_, values| !values.is_empty());
        match end {
            Some(end) => drop(self.values.outcomes.insert(key, end.to_owned())),
            None => drop(self.values.outcomes.remove(&key)),
        }
    }

    /// Forgets what scopes were given that are not around a path.
    pub(super) fn keep_scopes(&mut self, path: Option<&Path>) {
        let around = path.into_iter().flat_map(Path::scopes);
        let around: Vec<String> = around.map(|scope| scope.scope_key()).collect();
        self.values.scopes.retain(|key, _| around.contains(key));
    }
}

/// Returns whether a subworkflow returns an output to the workflow around it: a loop does not collect lists.
fn is_returned(reference: &Subworkflow, name: &str, around: &Path, catalog: &Catalog) -> bool {
    let find = |key: &str| catalog.get(key);
    let outer = around.workflow(catalog);
    outer.is_some_and(|outer| outer.output_of(reference.id(), name, &find).is_some())
}

/// A value of `with`, where a function knows the values of names: that of a placeholder alone, or a text with its placeholders
/// replaced. `None` is a placeholder without a value.
fn passed(written: &Value, value_of: &dyn Fn(&Subject) -> Option<Value>) -> Option<Value> {
    let Value::String(template) = written else {
        return Some(written.clone());
    };
    if let Some(subject) = only_name(template) {
        return value_of(&subject);
    }
    let texts = names_in(template).filter_map(|name| {
        let value = value_of(&Subject::named(name)?);
        Some((name.to_owned(), text_of(value.as_ref())))
    });
    let texts: Texts = texts.collect();
    Some(template::with_values(template, &texts).into())
}

/// The most items that a value may have, because a loop is over it: in the innermost of some scopes, inside its subworkflows, or
/// around it. `None` is not the list of a loop.
pub(crate) fn item_limit(
    scopes: &[ScopeLevel<'_>],
    subject: &Subject,
    catalog: &Catalog,
) -> Option<usize> {
    let (level, around) = scopes.split_last()?;
    let references = level.workflow.subworkflows();
    let own = references.filter_map(|reference| {
        let own = reference.for_each.as_ref() == Some(subject);
        let own = own.then(|| reference.most_items());
        let inner = catalog.get(&reference.key)?;
        let with = reference.with.iter().flatten();
        let names =
            with.filter(|(_, value)| value.as_str().and_then(only_name).as_ref() == Some(subject));
        let inside = names.filter_map(|(name, _)| input_limit(inner, name, catalog));
        let by_name = match subject {
            Subject::Input(name) if reference.with.is_none() => input_limit(inner, name, catalog),
            _ => None,
        };
        own.into_iter().chain(inside).chain(by_name).min()
    });
    let returned = around.last().into_iter().flat_map(|outer| {
        let id = outer.workflow.phases.get(outer.index).map(PhaseEntry::id);
        let returned = level.workflow.outputs.iter();
        let returned = returned.filter(|returned| returned.subject() == *subject);
        returned.filter_map(move |returned| {
            let (phase, name) = (id?.to_owned(), returned.name.clone());
            item_limit(around, &Subject::Output { phase, name }, catalog)
        })
    });
    own.chain(returned).min()
}

/// The same for an input of a workflow, whatever is around it.
fn input_limit(workflow: &Workflow, name: &str, catalog: &Catalog) -> Option<usize> {
    let input = Subject::Input(name.to_owned());
    item_limit(&[ScopeLevel { workflow, index: 0 }], &input, catalog)
}

/// What is wrong with the items of a list, or with a text that becomes one.
pub(super) fn wrong_items(value: &Value, most: usize) -> Option<String> {
    let items = match value {
        Value::Array(items) => &**items,
        other => std::slice::from_ref(other),
    };
    if items.len() > most {
        let number = items.len();
        return Some(format!(
            "has {number} items, and a loop (`forEach`) takes at most {most}"
        ));
    }
    let is_wrong = |text: &str| text.contains(char::is_control);
    let has_control = |item: &Value| item.as_str().is_some_and(is_wrong);
    let wrong = items.iter().position(has_control)?;
    Some(format!(
        "has a control character in item {}, such as a line break: write each item of a loop as one line",
        wrong + 1
    ))
}

/// What is wrong with a list that is given for a loop.
pub(crate) fn wrong_list(value: &Value, most: usize) -> Option<String> {
    let empty = || {
        let items = value.as_array()?;
        let is_empty = |item: &Value| item.as_str().is_some_and(|text| trim(text).is_empty());
        let at = items.iter().position(is_empty)? + 1;
        Some(format!("has an empty item ({at} of {})", items.len()))
    };
    wrong_items(value, most).or_else(empty)
}

/// What is wrong with the lists of the inputs of a run.
pub(crate) fn wrong_lists(
    workflow: &Workflow,
    inputs: &Values,
    catalog: &Catalog,
) -> Option<String> {
    let lists = workflow.inputs.iter();
    let mut lists = lists.filter(|input| input.kind == ParameterKind::List);
    lists.find_map(|input| {
        let most = input_limit(workflow, &input.name, catalog)?;
        let problem = wrong_list(inputs.get(&input.name)?, most)?;
        Some(format!("Input `{}` {problem}.", input.name))
    })
}
