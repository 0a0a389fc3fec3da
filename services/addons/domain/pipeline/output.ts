import type { AddonConfig } from '../config.ts';
import type { Formatter } from '../format/predefined.ts';
import type { FormatContext } from '../format/values.ts';
import type { ParsedStream } from '../stream.ts';

export interface OutputOptions {
  readonly config: AddonConfig;
  readonly addonId: string;
  readonly addonName: string;
  readonly formatter: Formatter;
  /** Values for formats that do not depend on the stream. */
  readonly context?: FormatContext | undefined;
  /** Includes parsed attributes for nested aggregators and tools. */
  readonly withData: boolean;
}

const replacedFields = new Set([
  'name',
  'title',
  'description',
  'behaviorHints',
  'url',
  'infoHash',
  'fileIdx',
  'sources',
  'streamData',
  'size',
  'seeders',
]);

/** Converts a stream for clients. Null values are omitted because some clients fail on them. */
export function toClientStream(stream: ParsedStream, options: OutputOptions): Record<string, unknown> {
  const { upstream, hints } = stream;
  const result: Record<string, unknown> = { ...formatTexts(stream, options) };
  for (const [name, value] of Object.entries(upstream)) if (!replacedFields.has(name)) result[name] = value;
  if (stream.url !== undefined) result['url'] = stream.url;
  else if (stream.infoHash !== undefined && (stream.type === 'p2p' || stream.type === 'debrid')) {
    result['infoHash'] = stream.infoHash;
    if (stream.fileIdx !== undefined) result['fileIdx'] = stream.fileIdx;
    if (stream.sources !== undefined) result['sources'] = stream.sources;
  }
  const { proxyHeaders, ...passedHints } = hints;
  result['behaviorHints'] = {
    ...passedHints,
    ...(stream.proxied || proxyHeaders === undefined ? {} : { proxyHeaders }),
    bingeGroup: buildBingeGroup(stream, options),
    ...(stream.size === undefined ? {} : { videoSize: stream.size }),
    ...(stream.filename === undefined ? {} : { filename: stream.filename }),
  };
  if (options.withData) result['streamData'] = buildStreamData(stream);
  return result;
}

/** Builds an entry that opens the file of a stream in the browser. Returns an empty list for streams without a file. */
export function toDownloadItems(
  stream: ParsedStream,
  { formatter, addonName, context }: OutputOptions,
): Record<string, unknown>[] {
  if (stream.url === undefined || stream.type === 'live' || !/^https?:/i.test(stream.url)) return [];
  const name = `⬇ ${formatter.name({ stream, addonName, context }).split('\n')[0] ?? ''}`;
  return [{ name, description: stream.filename ?? 'Opens in the browser.', externalUrl: stream.url }];
}

function formatTexts(
  stream: ParsedStream,
  { formatter, addonName, context }: OutputOptions,
): { name: string; description: string } {
  if (stream.addon.formatPassthrough) {
    const { name, description, title } = stream.upstream;
    const text = typeof description === 'string' ? description : title;
    return {
      name: typeof name === 'string' ? name : stream.addon.name,
      description: typeof text === 'string' ? text : '',
    };
  }
  const values = { stream, addonName, context };
  return { name: formatter.name(values), description: formatter.description(values) };
}

const groupAttributes: Readonly<Record<string, (stream: ParsedStream) => string | undefined>> = {
  resolution: ({ file }) => file.resolution,
  quality: ({ file }) => file.quality,
  releaseGroup: ({ file }) => file.releaseGroup,
  encode: ({ file }) => file.encode,
  service: ({ service }) => service?.id,
  type: ({ type }) => type,
  addon: ({ addon }) => addon.instanceId,
  visualTags: ({ file }) => file.visualTags.join('.') || undefined,
  audioTags: ({ file }) => file.audioTags.join('.') || undefined,
  languages: ({ file }) => file.languages.join('.') || undefined,
  proxied: ({ proxied }) => (proxied ? 'proxied' : undefined),
};

/**
 * Builds the group for the next episode. Clients continue with a stream of an equal group, so it contains no attribute
 * of the episode.
 */
export function buildBingeGroup(
  stream: ParsedStream,
  { config, addonId }: Pick<OutputOptions, 'config' | 'addonId'>,
): string {
  const { enabled, method, attributes } = config.autoPlay ?? {};
  if (enabled === false || method === 'firstFile') return addonId;
  if (method === 'matchingIndex') return `${addonId}|${stream.id.slice(stream.id.lastIndexOf('-') + 1)}`;
  const names = attributes?.length ? attributes : ['resolution', 'quality', 'releaseGroup'];
  const groupValues = names.map((name) =>
    Object.hasOwn(groupAttributes, name) ? groupAttributes[name]?.(stream) : undefined,
  );
  return `${addonId}|${groupValues.filter((part) => part !== undefined).join('|')}`;
}

/** Returns the parsed attributes of a stream in the format of the peer. */
export function buildStreamData(stream: ParsedStream): Record<string, unknown> {
  const { type, service, infoHash, fileIdx, sources, seeders } = stream;
  return omitUndefined({
    type,
    proxied: stream.proxied,
    indexer: stream.indexer,
    age: stream.age,
    duration: stream.duration,
    library: stream.library,
    size: stream.size,
    folderSize: stream.folderSize,
    torrent: omitUndefined({
      infoHash: type === 'p2p' || type === 'debrid' ? infoHash : undefined,
      seeders,
      sources,
      fileIdx,
      private: stream.private,
      freeleech: false,
    }),
    addon: stream.addon.name,
    filename: stream.filename,
    folderName: stream.folderName,
    service,
    parsedFile: omitUndefined(stream.file),
    id: stream.id,
  });
}

function omitUndefined(value: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== undefined));
}
