import { languagesOfFlags } from './languages.ts';
import { familyOf, generalNames, type AddonFamily, type StreamTexts } from './stream-text/families.ts';
import { ageIn, durationIn, labelled, seedersIn, textAfter } from './stream-text/text-fields.ts';
import { isPart, mergeFiles } from './stream-text/merge-files.ts';
import { serviceMark, type ServiceMark } from './stream-text/detect-service.ts';
import { parseSize, sizeAfter, toBytes } from './stream-text/sizes.ts';
import type { ParsedFile, ParsedStream, StreamAddon, StreamType, UpstreamStream } from './stream.ts';
import { subtitlesOfStream } from './subtitles.ts';

/** Parses a release name. Implementations may cache the result. */
export type ReadRelease = (name: string) => ParsedFile;

/** Messages by which addons report errors. They are sent as streams, because clients show nothing else. */
const complaint =
  /\binvalid\b[^\n]{0,40}\b(?:api ?key|token|account|credentials|password)\b|\brate[-\s]?limit\s+exceeded|Scraping in progress by another instance|Content Warning|\bERROR\b:/i;
const hash = /^[0-9a-f]{40}$/i;
const hashInUrl = /(?:btih:|\/)([0-9a-f]{40})(?=[/?&:.]|$)/i;
const longestText = 4000;

/** Parsed response of an addon: its streams, or its error message. */
export interface ReadStreams {
  readonly streams: readonly ParsedStream[];
  readonly complaint: string | undefined;
  /** Number of items that are no streams. */
  readonly invalid: number;
  /** Total number of streams when only a part was parsed. */
  readonly cutFrom?: number;
}

/**
 * Parses the streams of a response. Other items are omitted.
 *
 * @param isEnough Ends the loop early, because some names take the parser a thousand times as long as others.
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

/** Returns the same streams for an addon with another name, position or permissions. */
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
  const address = streamUrl(upstream['url']);
  const infoHash = readHash(upstream);
  const kind = kindOf(upstream, address, infoHash);
  if (kind === undefined) return undefined;
  const texts: StreamTexts = {
    name: text(upstream['name']) ?? '',
    description: (text(upstream['description']) ?? text(upstream['title']) ?? '').slice(0, longestText),
    hinted: text(hints['filename']),
    hintedFolder: text(hints['folderName']),
  };
  const family = familyOf(addon, texts.name);
  if (family.isNote?.(texts) === true) return undefined;
  const read = (family.service ?? ((known: StreamTexts) => serviceMark(known.name, known.description)))(texts);
  const service = kind === 'external' ? undefined : read;
  return {
    id: `${addon.instanceId}-${String(index)}`,
    addon,
    upstream,
    hints,
    type: typeOf(kind, service, family.type?.(texts)),
    service,
    library: isInLibrary(addon, texts.name) || family.isInLibrary?.(texts) === true,
    proxied: false,
    url: address,
    infoHash,
    fileIdx: wholeNumber(upstream['fileIdx']),
    sources: strings(upstream['sources']),
    private: family.isPrivate?.(texts) === true,
    message: family.message?.(texts),
    ...factsOf(texts, family, { upstream, hints }, readRelease),
  };
}

function typeOf(kind: StreamType, service: ServiceMark | undefined, told: StreamType | undefined): StreamType {
  if (kind === 'external' || kind === 'live') return service === undefined ? kind : 'debrid';
  if (told !== undefined && (service !== undefined || kind === 'http')) return told;
  if (service === undefined) return kind;
  return service.id === 'easynews' ? 'usenet' : 'debrid';
}

interface Members {
  readonly upstream: UpstreamStream;
  readonly hints: Readonly<Record<string, unknown>>;
}

type Facts = Pick<
  ParsedStream,
  'filename' | 'folderName' | 'size' | 'folderSize' | 'seeders' | 'age' | 'duration' | 'indexer' | 'file'
>;

/** Reads the facts of a stream from names and texts. */
function factsOf(
  texts: StreamTexts,
  family: AddonFamily,
  { upstream, hints }: Members,
  readRelease: ReadRelease,
): Facts {
  const { description } = texts;
  const { file: filename, folder } =
    family.fileNames?.(texts) ??
    generalNames(texts, (line) => {
      const { year, seasons, episodes } = readRelease(line);
      return year !== undefined || seasons !== undefined || episodes !== undefined;
    });
  const folderName = texts.hintedFolder ?? folder;
  // Numbers within names are no sizes.
  const rest = [filename, folderName].reduce<string>(
    (left, name) => (name ? left.replaceAll(name, ' ') : left),
    description,
  );
  const size = sizeOf(upstream, hints, { ...texts, description: rest }, family);
  const folderSize = folderSizeOf(hints, rest, family, size);
  const own = readRelease(filename ?? '');
  const merged = folderName === undefined ? own : mergeFiles(own, readRelease(folderName));
  const file = withLanguages(merged, texts, family, upstream['subtitles']);
  return {
    filename,
    folderName,
    size,
    folderSize,
    seeders: wholeNumber(upstream['seeders']) ?? seedersIn(rest),
    age: ageIn(rest),
    duration: durationOf(upstream, `${rest}\n${texts.name}`),
    indexer: indexerOf(texts, rest, family),
    file: isPart(file, size, folderSize) ? { ...file, seasonPack: true } : file,
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
  if (address !== undefined) return isLive.test(address) ? 'live' : 'http';
  if (infoHash !== undefined) return 'p2p';
  if (text(upstream['ytId']) !== undefined) return 'youtube';
  if (text(upstream['nzbUrl']) !== undefined) return 'stremio-usenet';
  return archiveMembers.some((member) => Array.isArray(upstream[member])) ? 'archive' : undefined;
}

/** Matches playlists and broadcast protocols. */
const isLive = /^(?:rtmp\w*|rtsps?|rtp|mms\w*|udp|srt|igmp):|^https?:[^?#]*\.m3u8(?:$|[?#])/i;

const archiveMembers = ['rarUrls', 'zipUrls', '7zipUrls', 'tgzUrls', 'tarUrls'];

/** Schemes that must not be passed to players, because they run scripts or read local data. */
const refusedSchemes = /^(?:javascript|vbscript|data|blob|file|filesystem|about|view-source|chrome|jar):/i;

/** Returns a valid URL. Some clients drop a stream, or the whole list, because of an invalid URL. */
function streamUrl(value: unknown): string | undefined {
  if (typeof value !== 'string' || value.length > 8192 || value.startsWith('magnet:')) return undefined;
  if (!/^[a-z][a-z\d+.-]*:/i.test(value) || refusedSchemes.test(value) || /^magnet:/i.test(value)) return undefined;
  return URL.canParse(value) ? value : undefined;
}

function readHash(upstream: UpstreamStream): string | undefined {
  const own = upstream['infoHash'];
  if (typeof own === 'string' && hash.test(own)) return own.toLowerCase();
  const url = upstream['url'];
  if (typeof url !== 'string') return undefined;
  return /^magnet:/i.test(url) ? hashOfMagnet(url) : hashInUrl.exec(url)?.[1]?.toLowerCase();
}

const base32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns the hash of a magnet link, which has 40 hexadecimal digits or 32 digits of Base32. */
function hashOfMagnet(url: string): string | undefined {
  const found = /btih(?::|%3a)([0-9a-f]{40}|[a-z2-7]{32})(?![0-9a-z])/i.exec(url)?.[1]?.toLowerCase();
  if (found === undefined || found.length === 40) return found;
  const bits = [...found].map((letter) => base32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return (bits.match(/.{4}/g) ?? []).map((four) => Number.parseInt(four, 2).toString(16)).join('');
}

/** Adds the languages and subtitles from the texts of a stream. */
function withLanguages(file: ParsedFile, texts: StreamTexts, family: AddonFamily, tracks: unknown): ParsedFile {
  const listed = family.languages?.(texts);
  const flagged = languagesOfFlags(`${texts.description}\n${texts.name}\n${texts.hinted ?? ''}`);
  const audio = listed?.replaces === true ? listed.audio : [...flagged, ...(listed?.audio ?? [])];
  const told = [...subtitlesOfStream(tracks, texts.description), ...(listed?.subtitles ?? [])];
  if (audio.length === 0 && told.length === 0) return file;
  return {
    ...file,
    languages: [...new Set([...file.languages, ...audio])],
    subtitles: [...new Set([...file.subtitles, ...told])],
  };
}

function sizeOf(
  upstream: UpstreamStream,
  hints: Readonly<Record<string, unknown>>,
  { name, description }: StreamTexts,
  { sizeBase = 1024, folderSizeIcons = [] }: AddonFamily,
): number | undefined {
  const members = [hints['videoSize'], upstream['size'], upstream['sizeBytes'], upstream['sizebytes'], hints['size']];
  for (const member of members) {
    const size = toBytes(member);
    if (size !== undefined) return size;
  }
  const icons = ['💾', '📦'].filter((icon) => !folderSizeIcons.includes(icon));
  const withoutFolder = folderSizeIcons.reduce(
    (text, icon) => text.replaceAll(new RegExp(`${icon}[^\\n💾]*`, 'gu'), ' '),
    description,
  );
  return sizeAfter(description, icons, sizeBase) ?? parseSize(withoutFolder, sizeBase) ?? parseSize(name, sizeBase);
}

/**
 * Reads the size of the folder from the hints or from `💾 2 GB / 📦 30 GB`. Returns undefined when it equals the size of
 * the file.
 */
function folderSizeOf(
  hints: Readonly<Record<string, unknown>>,
  description: string,
  { sizeBase = 1024, folderSizeIcons = [] }: AddonFamily,
  size: number | undefined,
): number | undefined {
  const pair = /(?:💾|📦)[^\n/💾📦]{1,40}\/\s*(?:💾|📦)?\s*([^\n]{1,40})/u.exec(description)?.[1];
  const found =
    toBytes(hints['folderSize']) ??
    sizeAfter(description, folderSizeIcons, sizeBase) ??
    (pair === undefined ? undefined : parseSize(pair, sizeBase));
  return found !== undefined && size !== undefined && Math.abs(found - size) / size < 0.05 ? undefined : found;
}

function durationOf(upstream: UpstreamStream, texts: string): number {
  const own = upstream['duration'];
  return typeof own === 'number' && Number.isFinite(own) && own > 0 ? own : durationIn(texts);
}

const indexerIcons = ['🌐', '⚙', '🔗', '🔎', '🔍', '☁'];

function indexerOf(texts: StreamTexts, rest: string, family: AddonFamily): string | undefined {
  const own = family.indexer?.(texts);
  if (own !== undefined) return own;
  if (family.indexer !== undefined) return undefined;
  const marked = textAfter(rest, family.indexerIcons ?? indexerIcons);
  return (marked ?? labelled(rest, ['Indexer', 'Tracker', 'Source', 'Provider']))?.slice(0, 60);
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
