//! References between workflows as a graph of indexes: its cycles and its depth.

/// Groups of nodes that reach each other (Kosaraju), each after all groups it leads to. Without recursion.
pub(crate) fn strongly_connected(targets: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let (sources, mut seen) = (reversed(targets), vec![false; targets.len()]);
    let order: Vec<usize> = (0..targets.len())
        .flat_map(|node| walk(&sources, node, &mut seen))
        .collect();
    seen.fill(false);
    let groups = order.into_iter().rev();
    let groups = groups.map(|node| walk(targets, node, &mut seen));
    groups.filter(|group| !group.is_empty()).collect()
}

/// The nodes that lead to each node.
pub(crate) fn reversed(targets: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut sources = vec![Vec::new(); targets.len()];
    for (from, targets) in targets.iter().enumerate() {
        for &target in targets {
            sources[target].push(from);
        }
    }
    sources
}

/// The nodes that are reached from a node and that no walk has seen, each after those that are reached through it.
fn walk(targets: &[Vec<usize>], root: usize, seen: &mut [bool]) -> Vec<usize> {
    let (mut waiting, mut left) = (vec![(root, false)], Vec::new());
    while let Some((node, is_done)) = waiting.pop() {
        if is_done {
            left.push(node);
        } else if !std::mem::replace(&mut seen[node], true) {
            waiting.push((node, true));
            waiting.extend(targets[node].iter().map(|&target| (target, false)));
        }
    }
    left
}

/// Returns true if the members of a group refer to themselves.
pub(crate) fn contains_itself(group: &[usize], targets: &[Vec<usize>]) -> bool {
    match group {
        [only] => targets[*only].contains(only),
        _ => true,
    }
}

/// Returns the length of the longest path from each node; the order has targets first.
///
/// On a cycle the result means nothing, but it ends.
pub(crate) fn levels(targets: &[Vec<usize>], order: &[usize]) -> Vec<u32> {
    let mut levels = vec![0_u32; targets.len()];
    for &at in order {
        let below = targets[at].iter().map(|&target| levels[target] + 1);
        levels[at] = below.max().unwrap_or(0);
    }
    levels
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Returns everything that can be reached from a node, by a plain search.
    fn reached(targets: &[Vec<usize>], from: usize) -> BTreeSet<usize> {
        let mut reached = BTreeSet::new();
        let mut open = targets[from].clone();
        while let Some(at) = open.pop() {
            if reached.insert(at) {
                open.extend(&targets[at]);
            }
        }
        reached
    }

    fn graph() -> impl Strategy<Value = Vec<Vec<usize>>> {
        (1_usize..9).prop_flat_map(|size| {
            let edges = prop::collection::vec(0..size, 0..4);
            prop::collection::vec(edges, size)
        })
    }

    proptest! {
        #[test]
        fn groups_are_what_reaches_each_other_targets_first(targets in graph()) {
            let reach: Vec<_> = (0..targets.len()).map(|at| reached(&targets, at)).collect();
            let groups = strongly_connected(&targets);
            let group_of = |node: usize| groups.iter().position(|group| group.contains(&node)).unwrap();
            prop_assert_eq!(groups.iter().map(Vec::len).sum::<usize>(), targets.len());
            for a in 0..targets.len() {
                let alone = !contains_itself(&groups[group_of(a)], &targets);
                prop_assert_eq!(alone, !reach[a].contains(&a));
                for b in 0..targets.len() {
                    let together = a == b || reach[a].contains(&b) && reach[b].contains(&a);
                    prop_assert_eq!(group_of(a) == group_of(b), together);
                    prop_assert!(!reach[a].contains(&b) || group_of(b) <= group_of(a));
                }
            }
        }
    }

    #[test]
    fn a_long_chain_needs_no_deep_stack() {
        const LENGTH: usize = 200_000;
        let targets: Vec<Vec<usize>> = (0..LENGTH)
            .map(|at| {
                if at + 1 < LENGTH {
                    vec![at + 1]
                } else {
                    Vec::new()
                }
            })
            .collect();
        let order: Vec<usize> = strongly_connected(&targets).into_iter().flatten().collect();
        assert_eq!(levels(&targets, &order)[0] as usize, LENGTH - 1);
    }
}
