import { findOwn } from '../../../contracts/find-own.ts';
import type { AddonConfig } from '../config.ts';
import type { ParsedStream } from '../stream.ts';
import { buildSmartDetectKey } from './smart-detect.ts';
import { createComparison, type Precedence } from './precedence.ts';
import { includesAddon } from './scope.ts';

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
  const groups = groupStreams(streams, options);
  const removed = new Set<ParsedStream>();
  const excludedAddons = new Set(options.excludeAddons ?? []);
  for (const group of groups) {
    const candidates = group.filter(({ addon }) => !includesAddon(addon, excludedAddons) && !addon.resultPassthrough);
    if (candidates.length < 2) continue;
    for (const stream of findDuplicates(candidates, options, precedence)) removed.add(stream);
  }
  return removed.size === 0 ? streams : streams.filter((stream) => !removed.has(stream));
}

/** Returns `cached`, `uncached`, or the type of a stream without a service. */
function getKind({ service, type }: ParsedStream): string {
  return service === undefined ? type : service.cached ? 'cached' : 'uncached';
}

function findDuplicates(
  group: readonly ParsedStream[],
  options: Options,
  precedence: Precedence,
): readonly ParsedStream[] {
  const byKind = Map.groupBy(group, getKind);
  const duplicates: ParsedStream[] = [];
  const removeKind = (kind: string, matches: (stream: ParsedStream) => boolean = () => true): void => {
    const [removedStreams, remainingStreams] = [
      byKind.get(kind)?.filter(matches) ?? [],
      byKind.get(kind)?.filter((stream) => !matches(stream)) ?? [],
    ];
    duplicates.push(...removedStreams);
    byKind.set(kind, remainingStreams);
  };
  const has = (kind: string): boolean => (byKind.get(kind)?.length ?? 0) > 0;
  const behaviour = options.multiGroupBehaviour ?? 'aggressive';
  if (behaviour === 'aggressive') {
    if (has('cached')) {
      removeKind('uncached');
      removeKind('p2p');
    } else if (has('p2p')) removeKind('uncached');
  } else if (behaviour === 'conservative' && has('cached')) {
    const services = new Set(byKind.get('cached')?.map(({ service }) => service?.id));
    removeKind('uncached', ({ service }) => services.has(service?.id));
    removeKind('p2p');
  }
  const compare = createComparison(options, precedence);
  for (const [kind, streams] of byKind) {
    const mode = getMode(options, kind);
    if (mode === 'disabled' || streams.length < 2) continue;
    const libraryStreams = options.libraryBehaviour === 'exclusive' ? streams.filter(({ library }) => library) : [];
    if (libraryStreams.length > 0) duplicates.push(...streams.filter(({ library }) => !library));
    const streamGroups = Map.groupBy(libraryStreams.length > 0 ? libraryStreams : streams, ({ service, addon }) =>
      mode === 'single_result' ? '' : mode === 'per_service' ? (service?.id ?? '') : addon.instanceId,
    );
    for (const part of streamGroups.values()) {
      const best = part.reduce((a, b) => (compare(b, a, kind) < 0 ? b : a));
      duplicates.push(...part.filter((stream) => stream !== best));
    }
  }
  return duplicates;
}

function getMode(options: Options, kind: string): Mode {
  const configuredMode = options[kind];
  return typeof configuredMode === 'string' ? (configuredMode as Mode) : (findOwn(defaultModes, kind) ?? 'disabled');
}

/** Groups streams that share a key directly or through another stream. */
function groupStreams(streams: readonly ParsedStream[], options: Options): readonly (readonly ParsedStream[])[] {
  const parents = streams.map((_, index) => index);
  const findRoot = (index: number): number => {
    let rootIndex = index;
    while (parents[rootIndex] !== rootIndex) rootIndex = parents[rootIndex] ?? rootIndex;
    for (let current = index; current !== rootIndex;) {
      const parent = parents[current] ?? rootIndex;
      parents[current] = rootIndex;
      current = parent;
    }
    return rootIndex;
  };
  const firstIndexes = new Map<string, number>();
  for (const [index, stream] of streams.entries()) {
    for (const key of buildKeys(stream, options)) {
      const firstIndex = firstIndexes.get(key);
      if (firstIndex === undefined) firstIndexes.set(key, index);
      else parents[findRoot(index)] = findRoot(firstIndex);
    }
  }
  const groups = Map.groupBy(streams.keys(), findRoot);
  return [...groups.values()].map((indexes) => indexes.flatMap((index) => streams[index] ?? []));
}

function buildKeys(stream: ParsedStream, options: Options): readonly string[] {
  const keys = options.keys ?? ['filename', 'infoHash'];
  const streamKeys: string[] = [];
  if (keys.includes('filename') && stream.filename !== undefined) {
    const normalizedName = stream.filename
      .replace(/\.[a-z0-9]{2,4}$/i, '')
      .replaceAll(/[^\p{L}\p{N}]/gu, '')
      .toLowerCase();
    if (normalizedName !== '') streamKeys.push(`f${normalizedName}`);
  }
  if (keys.includes('infoHash')) {
    if (stream.infoHash !== undefined) streamKeys.push(`h${stream.infoHash}${String(stream.fileIdx ?? 0)}`);
    const nzb = stream.upstream['nzbUrl'];
    if (typeof nzb === 'string') streamKeys.push(`n${nzb}`);
  }
  if (keys.includes('smartDetect')) {
    const detected = buildSmartDetectKey(stream, options);
    if (detected !== undefined) streamKeys.push(`s${detected}`);
  }
  return streamKeys;
}
