//! References between workflows as a graph of indexes: its cycles and its depth.

/// Groups of nodes that reach each other (Tarjan), each after all groups it leads to. Without recursion.
pub(crate) fn strongly_connected(targets: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const UNSEEN: usize = usize::MAX;
    let mut index = vec![UNSEEN; targets.len()];
    let mut low = vec![0; targets.len()];
    let mut on_stack = vec![false; targets.len()];
    let (mut stack, mut groups): (Vec<usize>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
    let mut next_index = 0;
    // The nodes being visited, each with the number of its targets seen so far.
    let mut visits: Vec<(usize, usize)> = Vec::new();

    for root in 0..targets.len() {
        if index[root] == UNSEEN {
            visits.push((root, 0));
        }
        while let Some((node, seen)) = visits.last_mut() {
            let node = *node;
            if *seen == 0 {
                index[node] = next_index;
                low[node] = next_index;
                next_index += 1;
                stack.push(node);
                on_stack[node] = true;
            }
            let Some(&target) = targets[node].get(*seen) else {
                visits.pop();
                if let Some(&(parent, _)) = visits.last() {
                    low[parent] = low[parent].min(low[node]);
                }
                if low[node] == index[node] {
                    let start = stack.iter().rposition(|&other| other == node).unwrap_or(0);
                    let group = stack.split_off(start);
                    for &member in &group {
                        on_stack[member] = false;
                    }
                    groups.push(group);
                }
                continue;
            };
            *seen += 1;
            if index[target] == UNSEEN {
                visits.push((target, 0));
            } else if on_stack[target] {
                low[node] = low[node].min(index[target]);
            }
        }
    }
    groups
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
