import type { AddonConfig } from '../config.ts';
import type { ParsedStream } from '../stream.ts';

type Options = NonNullable<AddonConfig['deduplicator']>;
type Compare = (one: ParsedStream, other: ParsedStream, kind: string) => number;

/** Order of preference among duplicates. */
export interface Precedence {
  /** IDs of services in the order of the configuration. */
  readonly services: readonly string[];
}

const usualTiebreakers = [
  { type: 'torrent_seeders', position: 'before_addon' },
  { type: 'usenet_age', position: 'before_addon' },
] as const;

/**
 * Returns a comparison of duplicates by preference, where a negative result prefers the first. The kind is `cached`,
 * `uncached`, or the type of both.
 */
export function comparing(options: Options, { services }: Precedence): Compare {
  const place = ({ service }: ParsedStream): number => {
    const at = services.indexOf(service?.id ?? '');
    return at === -1 ? services.length : at;
  };
  const byLibrary: Compare = (one, other) =>
    options.libraryBehaviour === 'ignore' ? 0 : Number(other.library) - Number(one.library);
  const ties = (wanted: string): readonly Compare[] =>
    (options.tiebreakers ?? usualTiebreakers).flatMap(({ type, position }) =>
      position === wanted && Object.hasOwn(tiebreakers, type) ? (tiebreakers[type] ?? []) : [],
    );
  const order: readonly Compare[] = [
    byLibrary,
    (one, other) => place(one) - place(other),
    ...ties('before_addon'),
    (one, other) => one.addon.index - other.addon.index,
    ...ties('after_addon'),
  ];
  return (one, other, kind) => {
    for (const compare of order) {
      const result = compare(one, other, kind);
      if (result !== 0) return result;
    }
    return 0;
  };
}

const tiebreakers: Readonly<Record<string, Compare>> = {
  // Streams that are available do not depend on seeders.
  torrent_seeders: (one, other, kind) =>
    kind === 'p2p' || kind === 'uncached' ? (other.seeders ?? -1) - (one.seeders ?? -1) : 0,
  usenet_age: (one, other) =>
    one.type === 'usenet' && other.type === 'usenet' && one.age !== other.age
      ? (one.age ?? Number.MAX_SAFE_INTEGER) - (other.age ?? Number.MAX_SAFE_INTEGER)
      : 0,
};
