/** Where moved rows go: beside another one, or to a place counted from 0 among those that are not moved. */
export type Place =
  { readonly before: string } | { readonly after: string } | { readonly position: number | 'top' | 'bottom' };

/**
 * The queue with `moved`, in the order they are named, taken to their place. Names that the queue does not have are
 * left out; undefined when the row they should stand beside is not there, or is one of them.
 */
export function arrange(
  queue: readonly string[],
  moved: readonly string[],
  place: Place,
): readonly string[] | undefined {
  const known = new Set(queue);
  const going = [...new Set(moved)].filter((uid) => known.has(uid));
  const leaving = new Set(going);
  const rest = queue.filter((uid) => !leaving.has(uid));
  const index = indexOf(rest, place);
  return index === undefined ? undefined : [...rest.slice(0, index), ...going, ...rest.slice(index)];
}

function indexOf(rest: readonly string[], place: Place): number | undefined {
  if ('position' in place) {
    if (place.position === 'top') return 0;
    return place.position === 'bottom' ? rest.length : Math.min(place.position, rest.length);
  }
  const beside = rest.indexOf('before' in place ? place.before : place.after);
  if (beside < 0) return undefined;
  return 'before' in place ? beside : beside + 1;
}
