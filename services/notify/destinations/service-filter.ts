import { kinds } from './catalogue.ts';
import type { Destination } from './destination.ts';

/** Whether a destination may be used, as the settings say. */
export type IsServed = (destination: Destination) => boolean;

function wordsOf(list: readonly string[]): ReadonlySet<string> {
  return new Set(list.flatMap((each) => each.toLowerCase().split(/[\s,]+/)).filter((each) => each !== ''));
}

/** All schemes of the kind one of them belongs to: who names one means them all. */
function familyOf(scheme: string): readonly string[] {
  const families = kinds.map(({ protocols, secureProtocols }) => [...protocols, ...secureProtocols]);
  return families.find((family) => family.includes(scheme)) ?? [scheme];
}

/** What the lists of schemes leave: those of `allow` where it names any, else all but those of `deny`. */
export function servedBy(allow: readonly string[], deny: readonly string[]): IsServed {
  const [allowed, denied] = [wordsOf(allow), wordsOf(deny)];
  if (allowed.size === 0 && denied.size === 0) return () => true;
  return (destination) => {
    const family = familyOf(destination.url(true).split('://', 1)[0] ?? '');
    return allowed.size > 0 ? family.some((each) => allowed.has(each)) : !family.some((each) => denied.has(each));
  };
}
