import type { AddonConfig } from '../domain/config.ts';
import { findStreamService } from '../domain/debrid-services.ts';
import { isCached } from '../domain/stream-attributes.ts';
import type { ParsedStream } from '../domain/stream.ts';

const formatters: Readonly<Record<string, (stream: ParsedStream) => string>> = {
  cached: (stream) => (isCached(stream) ? 'plays at once' : 'has to be fetched'),
  library: ({ library }) => (library ? 'in the library' : 'not in the library'),
  resolution: ({ file }) => file.resolution ?? 'no resolution',
  quality: ({ file }) => file.quality ?? 'no quality',
  size: ({ size }) => (size === undefined ? 'no size' : formatSize(size)),
  seeders: ({ seeders }) => (seeders === undefined ? 'no seeders' : `${String(seeders)} seeders`),
  language: ({ file }) => file.languages.join(', ') || 'no language',
  visualTag: ({ file }) => file.visualTags.join(', ') || 'no picture tags',
  audioTag: ({ file }) => file.audioTags.join(', ') || 'no sound tags',
  encode: ({ file }) => file.encode ?? 'no encoding',
  releaseGroup: ({ file }) => file.releaseGroup ?? 'no group',
  service: ({ service }) => findStreamService(service?.id ?? '')?.name ?? 'no service',
  addon: ({ addon }) => addon.name,
  streamType: ({ type }) => type,
};

/** Formats sizes below one gigabyte in megabytes, so that they are not rounded to 0 GB. */
function formatSize(size: number): string {
  return size < 1e9 ? `${String(Math.round(size / 1e6))} MB` : `${String(Math.round(size / 1e8) / 10)} GB`;
}

/** Lists the sorted attributes of a stream in the order of the sort criteria. */
export function explainPosition(stream: ParsedStream, { sortCriteria }: AddonConfig): string {
  if (stream.addon.pinPosition !== undefined) return `pinned to the ${stream.addon.pinPosition}`;
  const labels = sortCriteria.global.flatMap(({ key }) =>
    Object.hasOwn(formatters, key) ? (formatters[key]?.(stream) ?? []) : [],
  );
  return labels.length === 0 ? 'in the order of the addons' : labels.join(', ');
}
