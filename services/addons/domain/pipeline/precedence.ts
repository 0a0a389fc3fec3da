import type { AddonConfig } from '../config.ts';
import type { ParsedStream } from '../stream.ts';

type Options = NonNullable<AddonConfig['deduplicator']>;
type Compare = (a: ParsedStream, b: ParsedStream, kind: string) => number;

/** Order of preference among duplicates. */
export interface Precedence {
  /** IDs of services in the order of the configuration. */
  readonly services: readonly string[];
}

const defaultTiebreakers = [
  { type: 'torrent_seeders', position: 'before_addon' },
  { type: 'usenet_age', position: 'before_addon' },
] as const;

/**
 * Returns a comparison of duplicates by preference, where a negative result prefers the first. The kind is `cached`,
 * `uncached`, or the type of both.
 */
export function createComparison(options: Options, { services }: Precedence): Compare {
  const getServiceRank = ({ service }: ParsedStream): number => {
    const serviceIndex = services.indexOf(service?.id ?? '');
    return serviceIndex === -1 ? services.length : serviceIndex;
  };
  const byLibrary: Compare = (a, b) =>
    options.libraryBehaviour === 'ignore' ? 0 : Number(b.library) - Number(a.library);
  const getTiebreakers = (requestedPosition: string): readonly Compare[] =>
    (options.tiebreakers ?? defaultTiebreakers).flatMap(({ type, position }) =>
      position === requestedPosition && Object.hasOwn(tiebreakers, type) ? (tiebreakers[type] ?? []) : [],
    );
  const order: readonly Compare[] = [
    byLibrary,
    (a, b) => getServiceRank(a) - getServiceRank(b),
    ...getTiebreakers('before_addon'),
    (a, b) => a.addon.index - b.addon.index,
    ...getTiebreakers('after_addon'),
  ];
  return (a, b, kind) => {
    for (const compare of order) {
      const result = compare(a, b, kind);
      if (result !== 0) return result;
    }
    return 0;
  };
}

const tiebreakers: Readonly<Record<string, Compare>> = {
  // Streams that are available do not depend on seeders.
  torrent_seeders: (a, b, kind) => (kind === 'p2p' || kind === 'uncached' ? (b.seeders ?? -1) - (a.seeders ?? -1) : 0),
  usenet_age: (a, b) =>
    a.type === 'usenet' && b.type === 'usenet' && a.age !== b.age
      ? (a.age ?? Number.MAX_SAFE_INTEGER) - (b.age ?? Number.MAX_SAFE_INTEGER)
      : 0,
};
