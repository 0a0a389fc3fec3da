/** Target of moved rows: next to another row, or an index from 0 among the rows that are not moved. */
export type QueuePosition =
  { readonly before: string } | { readonly after: string } | { readonly position: number | 'top' | 'bottom' };

/**
 * Returns the queue after moving `moved`, in the given order, to a position. Unknown uids are omitted. Undefined when
 * the adjacent row does not exist or is moved itself.
 */
export function moveInQueue(
  queue: readonly string[],
  moved: readonly string[],
  position: QueuePosition,
): readonly string[] | undefined {
  const existing = new Set(queue);
  const uids = [...new Set(moved)].filter((uid) => existing.has(uid));
  const movedUids = new Set(uids);
  const rest = queue.filter((uid) => !movedUids.has(uid));
  const index = findTargetIndex(rest, position);
  return index === undefined ? undefined : [...rest.slice(0, index), ...uids, ...rest.slice(index)];
}

function findTargetIndex(rest: readonly string[], position: QueuePosition): number | undefined {
  if ('position' in position) {
    if (position.position === 'top') return 0;
    return position.position === 'bottom' ? rest.length : Math.min(position.position, rest.length);
  }
  const adjacentIndex = rest.indexOf('before' in position ? position.before : position.after);
  if (adjacentIndex < 0) return undefined;
  return 'before' in position ? adjacentIndex : adjacentIndex + 1;
}
