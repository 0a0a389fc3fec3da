import * as t from '#messages/addons-texts';
import type { AddonConfig } from '../domain/config.ts';
import { findStreamService } from '../domain/debrid-services.ts';
import { isCached } from '../domain/stream-attributes.ts';
import type { ParsedStream } from '../domain/stream.ts';

const formatters: Readonly<Record<string, (stream: ParsedStream) => string>> = {
  cached: (stream) => (isCached(stream) ? t.cached() : t.notCached()),
  library: ({ library }) => (library ? t.inLibrary() : t.notInLibrary()),
  resolution: ({ file }) => file.resolution ?? t.noResolution(),
  quality: ({ file }) => file.quality ?? t.noQuality(),
  size: ({ size }) => (size === undefined ? t.noSize() : formatSize(size)),
  seeders: ({ seeders }) => (seeders === undefined ? t.noSeeders() : t.seeders({ count: seeders })),
  language: ({ file }) => file.languages.join(', ') || t.noLanguage(),
  visualTag: ({ file }) => file.visualTags.join(', ') || t.noVisualTags(),
  audioTag: ({ file }) => file.audioTags.join(', ') || t.noAudioTags(),
  encode: ({ file }) => file.encode ?? t.noEncode(),
  releaseGroup: ({ file }) => file.releaseGroup ?? t.noReleaseGroup(),
  service: ({ service }) => findStreamService(service?.id ?? '')?.name ?? t.noService(),
  addon: ({ addon }) => addon.name,
  streamType: ({ type }) => type,
};

/** Formats sizes below one gigabyte in megabytes, so that they are not rounded to 0 GB. */
function formatSize(size: number): string {
  return size < 1e9 ? `${String(Math.round(size / 1e6))} MB` : `${String(Math.round(size / 1e8) / 10)} GB`;
}

/** Lists the sorted attributes of a stream in the order of the sort criteria. */
export function explainPosition(stream: ParsedStream, { sortCriteria }: AddonConfig): string {
  if (stream.addon.pinPosition !== undefined)
    return stream.addon.pinPosition === 'top' ? t.pinnedToTop() : t.pinnedToBottom();
  const labels = sortCriteria.global.flatMap(({ key }) =>
    Object.hasOwn(formatters, key) ? (formatters[key]?.(stream) ?? []) : [],
  );
  return labels.length === 0 ? t.addonOrder() : labels.join(', ');
}
