import { findOwn } from '../../../contracts/find-own.ts';
import type { AddonConfig } from '../config.ts';
import type { ParsedStream } from '../stream.ts';
import { detectedOf } from './smart-detect.ts';
import { comparing, type Precedence } from './precedence.ts';
import { isOneOf } from './scope.ts';

type Options = NonNullable<AddonConfig['deduplicator']>;
type Mode = 'single_result' | 'per_service' | 'per_addon' | 'disabled';

const defaultModes: Readonly<Record<string, Mode>> = { cached: 'per_addon', uncached: 'per_addon', p2p: 'per_addon' };

/** Removes duplicates and keeps the best stream of each release. The order is preserved. */
export function deduplicate(
  streams: readonly ParsedStream[],
  options: Options | null | undefined,
  precedence: Precedence,
): readonly ParsedStream[] {
  if (options?.enabled !== true || streams.length < 2) return streams;
  const groups = groupsOf(streams, options);
  const removed = new Set<ParsedStream>();
  const spared = new Set(options.excludeAddons ?? []);
  for (const group of groups) {
    const candidates = group.filter(({ addon }) => !isOneOf(addon, spared) && !addon.resultPassthrough);
    if (candidates.length < 2) continue;
    for (const stream of losers(candidates, options, precedence)) removed.add(stream);
  }
  return removed.size === 0 ? streams : streams.filter((stream) => !removed.has(stream));
}

/** Returns `cached`, `uncached`, or the type of a stream without a service. */
function kindOf({ service, type }: ParsedStream): string {
  return service === undefined ? type : service.cached ? 'cached' : 'uncached';
}

function losers(group: readonly ParsedStream[], options: Options, precedence: Precedence): readonly ParsedStream[] {
  const byKind = Map.groupBy(group, kindOf);
  const lost: ParsedStream[] = [];
  const drop = (kind: string, which: (stream: ParsedStream) => boolean = () => true): void => {
    const [gone, kept] = [
      byKind.get(kind)?.filter(which) ?? [],
      byKind.get(kind)?.filter((stream) => !which(stream)) ?? [],
    ];
    lost.push(...gone);
    byKind.set(kind, kept);
  };
  const has = (kind: string): boolean => (byKind.get(kind)?.length ?? 0) > 0;
  const behaviour = options.multiGroupBehaviour ?? 'aggressive';
  if (behaviour === 'aggressive') {
    if (has('cached')) {
      drop('uncached');
      drop('p2p');
    } else if (has('p2p')) drop('uncached');
  } else if (behaviour === 'conservative' && has('cached')) {
    const services = new Set(byKind.get('cached')?.map(({ service }) => service?.id));
    drop('uncached', ({ service }) => services.has(service?.id));
    drop('p2p');
  }
  const compare = comparing(options, precedence);
  for (const [kind, streams] of byKind) {
    const mode = modeOf(options, kind);
    if (mode === 'disabled' || streams.length < 2) continue;
    const own = options.libraryBehaviour === 'exclusive' ? streams.filter(({ library }) => library) : [];
    if (own.length > 0) lost.push(...streams.filter(({ library }) => !library));
    const parts = Map.groupBy(own.length > 0 ? own : streams, ({ service, addon }) =>
      mode === 'single_result' ? '' : mode === 'per_service' ? (service?.id ?? '') : addon.instanceId,
    );
    for (const part of parts.values()) {
      const best = part.reduce((one, other) => (compare(other, one, kind) < 0 ? other : one));
      lost.push(...part.filter((stream) => stream !== best));
    }
  }
  return lost;
}

function modeOf(options: Options, kind: string): Mode {
  const given = options[kind];
  return typeof given === 'string' ? (given as Mode) : (findOwn(defaultModes, kind) ?? 'disabled');
}

/** Groups streams that share a key directly or through another stream. */
function groupsOf(streams: readonly ParsedStream[], options: Options): readonly (readonly ParsedStream[])[] {
  const parents = streams.map((_, at) => at);
  const root = (at: number): number => {
    let top = at;
    while (parents[top] !== top) top = parents[top] ?? top;
    for (let next = at; next !== top;) {
      const after = parents[next] ?? top;
      parents[next] = top;
      next = after;
    }
    return top;
  };
  const holders = new Map<string, number>();
  for (const [at, stream] of streams.entries()) {
    for (const key of keysOf(stream, options)) {
      const holder = holders.get(key);
      if (holder === undefined) holders.set(key, at);
      else parents[root(at)] = root(holder);
    }
  }
  const groups = Map.groupBy(streams.keys(), root);
  return [...groups.values()].map((places) => places.flatMap((at) => streams[at] ?? []));
}

function keysOf(stream: ParsedStream, options: Options): readonly string[] {
  const keys = options.keys ?? ['filename', 'infoHash'];
  const found: string[] = [];
  if (keys.includes('filename') && stream.filename !== undefined) {
    const bare = stream.filename
      .replace(/\.[a-z0-9]{2,4}$/i, '')
      .replaceAll(/[^\p{L}\p{N}]/gu, '')
      .toLowerCase();
    if (bare !== '') found.push(`f${bare}`);
  }
  if (keys.includes('infoHash')) {
    if (stream.infoHash !== undefined) found.push(`h${stream.infoHash}${String(stream.fileIdx ?? 0)}`);
    const nzb = stream.upstream['nzbUrl'];
    if (typeof nzb === 'string') found.push(`n${nzb}`);
  }
  if (keys.includes('smartDetect')) {
    const detected = detectedOf(stream, options);
    if (detected !== undefined) found.push(`s${detected}`);
  }
  return found;
}
