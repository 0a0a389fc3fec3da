import { z } from 'zod';
import { streamServices, type StreamServiceId } from '../debrid-services.ts';
import type { ParsedStream, StreamType } from '../stream.ts';

const text = z.string().min(1).max(1000).optional().catch(undefined);
const texts = z.array(z.string().max(100)).max(100).optional().catch(undefined);
const count = z.int().min(0).optional().catch(undefined);
const counts = z.array(z.int()).max(1000).optional().catch(undefined);
const mark = z.boolean().optional().catch(undefined);
const serviceIds = streamServices.map(({ id }) => id) as [StreamServiceId, ...StreamServiceId[]];

const File = z
  .object({
    ...{ title: text, year: text, resolution: text, quality: text, encode: text, releaseGroup: text, network: text },
    ...{ container: text, extension: text, episodeTitle: text, country: text, date: text },
    ...{ seasons: counts, episodes: counts, folderSeasons: counts, folderEpisodes: counts },
    ...{ editions: texts, visualTags: texts, audioTags: texts, audioChannels: texts, languages: texts },
    ...{ subtitles: texts, subbed: mark, dubbed: mark, seasonPack: mark },
  })
  .optional()
  .catch(undefined);

/** Attributes that an aggregator adds to its streams for other aggregators. Invalid values are ignored. */
const NestedData = z.object({
  type: z.string().optional().catch(undefined),
  id: z.string().optional().catch(undefined),
  ...{ indexer: text, filename: text, folderName: text, message: text, library: mark },
  ...{ size: count, folderSize: count, duration: z.number().min(0).optional().catch(undefined) },
  age: z.number().min(0).optional().catch(undefined),
  service: z
    .object({ id: z.enum(serviceIds), cached: z.boolean() })
    .optional()
    .catch(undefined),
  torrent: z.object({ seeders: count, private: mark }).optional().catch(undefined),
  parsedFile: File,
});
type NestedData = z.infer<typeof NestedData>;

/** Types that depend on attributes other than the fields of the stream. */
const refinableTypes = new Set<string>(['http', 'debrid', 'usenet', 'live', 'p2p']);

/** Reads the attributes of a stream of another aggregator. */
export function parseNestedData(value: unknown): NestedData | undefined {
  return typeof value === 'object' && value !== null ? NestedData.safeParse(value).data : undefined;
}

/** Returns true for rows about the list, and for copies of streams that open in the browser. */
export function isNestedNote({ type, id }: NestedData): boolean {
  return type === 'statistic' || id?.endsWith('external-download') === true;
}

/** Replaces attributes read from texts by those of the other aggregator. */
export function applyNestedData(stream: ParsedStream, data: NestedData): ParsedStream {
  const { type, service, torrent, parsedFile } = data;
  const isRefined = type !== undefined && refinableTypes.has(type) && refinableTypes.has(stream.type);
  return {
    ...stream,
    type: isRefined ? (type as StreamType) : stream.type,
    filename: data.filename ?? stream.filename,
    folderName: data.folderName ?? stream.folderName,
    size: data.size ?? stream.size,
    folderSize: data.folderSize ?? stream.folderSize,
    age: data.age ?? stream.age,
    duration: data.duration || stream.duration,
    indexer: data.indexer ?? stream.indexer,
    message: data.message ?? stream.message,
    seeders: torrent?.seeders ?? stream.seeders,
    private: torrent?.private ?? stream.private,
    library: stream.library || data.library === true,
    service: type === undefined ? stream.service : service,
    file: { ...stream.file, ...withoutUndefined(parsedFile ?? {}) },
  };
}

function withoutUndefined<Value extends object>(
  value: Value,
): { [Key in keyof Value]?: Exclude<Value[Key], undefined> } {
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  return Object.fromEntries(entries) as { [Key in keyof Value]?: Exclude<Value[Key], undefined> };
}
