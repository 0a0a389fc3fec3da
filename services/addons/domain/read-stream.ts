import { debridServices, type ServiceId } from './debrid-services.ts';
import { languagesOfFlags } from './languages.ts';
import type { ParsedFile, ParsedStream, StreamAddon, StreamType, UpstreamStream } from './stream.ts';
import { subtitlesOfStream } from './subtitles.ts';

/** Reads a release name; callers keep what they have read before. */
export type ReadRelease = (name: string) => ParsedFile;

/** An addon's way of saying that it does not work: it comes as a stream, since clients show nothing else. */
const complaint = /\binvalid\b[^\n]{0,40}\b(?:api ?key|token|account|credentials|password)\b/i;
const hash = /^[0-9a-f]{40}$/i;
const hashInUrl = /(?:btih:|\/)([0-9a-f]{40})(?=[/?&:.]|$)/i;
const longestText = 4000;
const lineCount = 5;

/** What an upstream's answer holds: its streams, and its complaint where a stream is none but an error. */
export interface ReadStreams {
  readonly streams: readonly ParsedStream[];
  readonly complaint: string | undefined;
  /** Items that are no streams. */
  readonly invalid: number;
  /** How many it had, where that is more than is looked at. */
  readonly cutFrom?: number;
}

/**
 * Reads the list an addon answered; what is no stream is left out, item by item. `isEnough` ends it early: there are names
 * that take the parser a thousand times as long as others.
 */
export function readStreams(
  items: readonly unknown[],
  addon: StreamAddon,
  readRelease: ReadRelease,
  isEnough: () => boolean = () => false,
): ReadStreams {
  const streams: ParsedStream[] = [];
  let invalid = 0;
  for (const [index, item] of items.entries()) {
    if (isEnough()) return { streams, complaint: undefined, invalid, cutFrom: items.length };
    const read = readStream(item, addon, index, readRelease);
    if (read === undefined) invalid += 1;
    else if (read.file.resolution === undefined && read.size === undefined && complaint.test(textOf(read.upstream)))
      return { streams: [], complaint: textOf(read.upstream).slice(0, 200), invalid };
    else streams.push(read);
  }
  return { streams, complaint: undefined, invalid };
}

/** The same streams as those of an addon with another name, place or rights. */
export function ofAddon(read: ReadStreams, addon: StreamAddon): ReadStreams {
  const first = read.streams[0]?.addon;
  if (first === undefined || JSON.stringify(first) === JSON.stringify(addon)) return read;
  const streams = read.streams.map((stream): ParsedStream => ({
    ...stream,
    addon,
    library: isInLibrary(addon, text(stream.upstream['name']) ?? ''),
  }));
  return { ...read, streams };
}

function isInLibrary({ library }: StreamAddon, name: string): boolean {
  return library || /\blibrary\b|☁️/i.test(name);
}

function readStream(
  item: unknown,
  addon: StreamAddon,
  index: number,
  readRelease: ReadRelease,
): ParsedStream | undefined {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return undefined;
  const upstream = withoutNulls(item);
  const given = upstream['behaviorHints'];
  const hints = typeof given === 'object' && given !== null && !Array.isArray(given) ? withoutNulls(given) : {};
  const address = webUrl(upstream['url']);
  const magnet = address === undefined && typeof upstream['url'] === 'string' && /^magnet:/i.test(upstream['url']);
  const infoHash = readHash(upstream, magnet);
  const type = kindOf(upstream, address, infoHash);
  if (type === undefined) return undefined;
  const name = text(upstream['name']) ?? '';
  const description = (text(upstream['description']) ?? text(upstream['title']) ?? '').slice(0, longestText);
  const service = type === 'external' ? undefined : serviceOf(name, description);
  const lines = description.split('\n', lineCount).map(bareLine);
  const hinted = text(hints['filename']);
  const { filename, file } = fileOf(hinted, lines, readRelease);
  const first = lines[0] ?? '';
  const folderName =
    hinted !== undefined && first !== '' && first !== hinted && looksLikeName(first) ? first : undefined;
  return {
    id: `${addon.instanceId}-${String(index)}`,
    addon,
    upstream,
    hints,
    type: service === undefined ? type : service.id === 'easynews' ? 'usenet' : 'debrid',
    service,
    library: isInLibrary(addon, name),
    proxied: false,
    url: address,
    infoHash,
    fileIdx: wholeNumber(upstream['fileIdx']),
    sources: strings(upstream['sources']),
    filename,
    folderName,
    size: sizeOf(upstream, hints, description),
    folderSize: undefined,
    seeders: seedersOf(upstream, description),
    age: ageOf(description),
    duration: 0,
    indexer: indexerOf(description),
    message: undefined,
    private: false,
    file: withSubtitles(withFlags(file, description), upstream['subtitles'], description),
  };
}

function textOf(upstream: UpstreamStream): string {
  return `${text(upstream['name']) ?? ''} ${text(upstream['description']) ?? text(upstream['title']) ?? ''}`;
}

function kindOf(
  upstream: UpstreamStream,
  address: string | undefined,
  infoHash: string | undefined,
): StreamType | undefined {
  if (text(upstream['externalUrl']) !== undefined) return 'external';
  if (address !== undefined) return /\.m3u8(?:$|\?)/i.test(address) ? 'live' : 'http';
  if (infoHash !== undefined) return 'p2p';
  if (text(upstream['ytId']) !== undefined) return 'youtube';
  if (text(upstream['nzbUrl']) !== undefined) return 'stremio-usenet';
  return archiveMembers.some((member) => Array.isArray(upstream[member])) ? 'archive' : undefined;
}

const archiveMembers = ['rarUrls', 'zipUrls', '7zipUrls', 'tgzUrls', 'tarUrls'];

/** A URL that does not parse would lose the stream in the client, and its neighbours with it in some. */
function webUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 8192 || !/^https?:\/\//i.test(value)) return undefined;
  return URL.canParse(value) ? value : undefined;
}

function readHash(upstream: UpstreamStream, magnet: boolean): string | undefined {
  const own = upstream['infoHash'];
  if (typeof own === 'string' && hash.test(own)) return own.toLowerCase();
  const url = upstream['url'];
  if (typeof url !== 'string') return undefined;
  const found = (magnet ? /btih:([0-9a-f]{40})/i : hashInUrl).exec(url);
  return found?.[1]?.toLowerCase();
}

const shortNames = new Map<string, ServiceId>();
const longNames = new Map<string, ServiceId>();
for (const { id, knownNames } of debridServices)
  for (const known of knownNames) (known.length > 4 ? longNames : shortNames).set(known.toLowerCase(), id);
const quoted = (names: Iterable<string>): string =>
  [...names].map((known) => known.replaceAll('.', String.raw`\.`).replaceAll(' ', '[ _-]')).join('|');
/** Short names count in brackets alone: "EN" and "PP" are words, too. */
const inBrackets = new RegExp(
  `[[({|]\\s*(?:instant\\s+|⚡️?|⏳|☁️?)?\\s*(${quoted(shortNames.keys())})(?=[\\s+\\])}|⚡⏳:🚀☁🌩📫-])(\\+?)`,
  'iu',
);
const anywhere = new RegExp(`(?<![\\w])(${quoted(longNames.keys())})(?![\\w])(\\+?)`, 'iu');
const uncachedMark = /⏳|\bdownload\b|\buncached\b|☁️/iu;

function serviceOf(name: string, description: string): ParsedStream['service'] {
  if (name === '') return undefined;
  const found = inBrackets.exec(name) ?? anywhere.exec(name);
  const known = found?.[1]?.toLowerCase().replaceAll(/[_-](?=debrid|link)/g, ' ') ?? '';
  const id = shortNames.get(known) ?? longNames.get(known) ?? longNames.get(found?.[1]?.toLowerCase() ?? '');
  if (id === undefined) return undefined;
  const said = found?.[2] === '+' ? name : `${name}\n${description}`;
  return { id, cached: !(uncachedMark.test(name) || (found?.[2] !== '+' && /⏳|\buncached\b/i.test(said))) };
}

/** Without the icon and the label some addons begin a line with. */
function bareLine(line: string): string {
  return line
    .replace(/^[\p{Extended_Pictographic}\u{FE0F}\u{200D}\s]+/u, '')
    .replace(/^[A-Z][A-Za-z ]{1,14}:\s+/, '')
    .trim();
}

function looksLikeName(line: string): boolean {
  return /\b(?:19|20)\d\d\b|\bS\d{1,2}|\b\d{3,4}p\b/i.test(line);
}

function fileOf(
  hinted: string | undefined,
  lines: readonly string[],
  readRelease: ReadRelease,
): { filename: string | undefined; file: ParsedFile } {
  if (hinted !== undefined) return { filename: hinted, file: readRelease(hinted) };
  for (const line of lines) {
    if (!looksLikeName(line)) continue;
    const file = readRelease(line);
    if (file.year !== undefined || file.seasons !== undefined || file.episodes !== undefined)
      return { filename: line, file };
  }
  const filename = lines.find((line) => line !== '');
  return { filename, file: readRelease(filename ?? '') };
}

function withFlags(file: ParsedFile, description: string): ParsedFile {
  const flagged = languagesOfFlags(description);
  if (flagged.length === 0) return file;
  return { ...file, languages: [...new Set([...file.languages, ...flagged])] };
}

function withSubtitles(file: ParsedFile, tracks: unknown, description: string): ParsedFile {
  const told = subtitlesOfStream(tracks, description);
  return told.length === 0 ? file : { ...file, subtitles: [...new Set([...file.subtitles, ...told])] };
}

const units: Readonly<Record<string, number>> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 };
const sizeText = /(\d+(?:[.,]\d+)?)\s?([KMGT])i?B\b/i;

function sizeOf(
  upstream: UpstreamStream,
  hints: Readonly<Record<string, unknown>>,
  description: string,
): number | undefined {
  const told = positive(hints['videoSize']) ?? positive(upstream['size']);
  if (told !== undefined) return told;
  const found = sizeText.exec(description);
  if (found === null) return undefined;
  const size = Number(found[1]?.replace(',', '.')) * (units[found[2]?.toLowerCase() ?? ''] ?? Number.NaN);
  return Number.isFinite(size) && size > 0 ? Math.round(size) : undefined;
}

function seedersOf(upstream: UpstreamStream, description: string): number | undefined {
  const own = wholeNumber(upstream['seeders']);
  if (own !== undefined) return own;
  const found = /[👥👤]\s*(\d{1,7})/u.exec(description);
  return found === null ? undefined : Number(found[1]);
}

function ageOf(description: string): number | undefined {
  const found = /(?:📅|🕒|⏰)\s*(\d{1,5})\s*([hdy])/u.exec(description);
  if (found === null) return undefined;
  return Number(found[1]) * (found[2] === 'h' ? 1 : found[2] === 'd' ? 24 : 24 * 365);
}

const indexerMark = /(?:🌐|⚙️?|🔗|🔎|🔍|☁️?)\s*([^\n💾👤👥📦🕒]{1,60})/u;

function indexerOf(description: string): string | undefined {
  const found = indexerMark.exec(description)?.[1]?.trim();
  return found === undefined || found === '' ? undefined : found;
}

function withoutNulls(item: object): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(item)) {
    const value = (item as Record<string, unknown>)[key];
    if (value !== null && value !== undefined && key !== '__proto__') result[key] = value;
  }
  return result;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function strings(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const found = value.filter((item) => typeof item === 'string');
  return found.length === 0 ? undefined : found;
}

function wholeNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

function positive(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) && number > 0 ? number : undefined;
}
