import { findLanguagesByFlags } from './languages.ts';
import type { AddonFamily, StreamTexts } from './stream-text/addon-family.ts';
import { findFamily, readGeneralNames } from './stream-text/families.ts';
import { applyNestedData, isNestedNote, parseNestedData } from './stream-text/nested-data.ts';
import { parseAge, parseDuration, findLabeledText, parseSeeders, findTextAfter } from './stream-text/text-fields.ts';
import { isPart, mergeFiles } from './stream-text/merge-files.ts';
import { detectService, type DetectedService } from './stream-text/detect-service.ts';
import { parseSize, parseSizeAfter, toBytes } from './stream-text/sizes.ts';
import { findResolution } from './release.ts';
import type { ParsedFile, ParsedStream, StreamAddon, StreamType, UpstreamStream } from './stream.ts';
import { findSubtitlesInStream } from './subtitles.ts';
import { isRecord } from '../../contracts/is-record.ts';

/** Parses a release name. Implementations may cache the result. */
export type ReadRelease = (name: string) => ParsedFile;

/** Messages by which addons report errors. They are sent as streams, because clients show nothing else. */
const errorPattern = new RegExp(
  [
    String.raw`\binvalid\b[^\n]{0,40}\b(?:api ?key|token|account|credentials|password)\b`,
    String.raw`\brate[-\s]?limit\s+exceeded`,
    'Scraping in progress by another instance',
    'Content Warning',
    String.raw`\bERROR\b:`,
  ].join('|'),
  'i',
);
const hashPattern = /^[0-9a-f]{40}$/i;
const urlHashPattern = /(?:btih:|\/)([0-9a-f]{40})(?=[/?&:.]|$)/i;
const maxTextLength = 4000;

/** Parsed response of an addon: its streams, or its error message. */
export interface ReadStreams {
  readonly streams: readonly ParsedStream[];
  readonly errorMessage: string | undefined;
  /** Number of items that are not streams. */
  readonly invalid: number;
  /** Total number of streams when only a part was parsed. */
  readonly totalCount?: number;
}

/**
 * Parses the streams of a response. Other items are omitted.
 *
 * @param isTimeUp Ends the loop early, because some names take the parser a thousand times as long as others.
 */
export function readStreams(
  items: readonly unknown[],
  addon: StreamAddon,
  readRelease: ReadRelease,
  isTimeUp: () => boolean = () => false,
): ReadStreams {
  const streams: ParsedStream[] = [];
  let invalid = 0;
  for (const [index, item] of items.entries()) {
    if (isTimeUp()) return { streams, errorMessage: undefined, invalid, totalCount: items.length };
    const stream = readStream(item, addon, index, readRelease);
    if (stream === undefined) invalid += 1;
    else if (
      stream.file.resolution === undefined &&
      stream.size === undefined &&
      errorPattern.test(getMessageText(stream.upstream))
    )
      return { streams: [], errorMessage: getMessageText(stream.upstream).slice(0, 200), invalid };
    else streams.push(stream);
  }
  return { streams, errorMessage: undefined, invalid };
}

/** Returns the same streams for an addon with another name, position or permissions. */
export function withAddon(parsed: ReadStreams, addon: StreamAddon): ReadStreams {
  const currentAddon = parsed.streams[0]?.addon;
  if (currentAddon === undefined || JSON.stringify(currentAddon) === JSON.stringify(addon)) return parsed;
  const streams = parsed.streams.map((stream): ParsedStream => ({
    ...stream,
    addon,
    library: isInLibrary(addon, toText(stream.upstream['name']) ?? ''),
  }));
  return { ...parsed, streams };
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
  if (!isRecord(item)) return undefined;
  const upstream = withoutNulls(item);
  const rawHints = upstream['behaviorHints'];
  const hints = isRecord(rawHints) ? withoutNulls(rawHints) : {};
  const address = streamUrl(upstream['url']);
  const infoHash = readHash(upstream);
  const sourceType = detectSourceType(upstream, address, infoHash);
  if (sourceType === undefined) return undefined;
  const texts: StreamTexts = {
    name: toText(upstream['name']) ?? '',
    description: (toText(upstream['description']) ?? toText(upstream['title']) ?? '').slice(0, maxTextLength),
    hintedName: toText(hints['filename']),
    hintedFolder: toText(hints['folderName']),
  };
  const family = findFamily(addon, texts.name);
  const nestedData = parseNestedData(upstream['streamData']);
  if (family.isNote?.(texts) === true || (nestedData !== undefined && isNestedNote(nestedData))) return undefined;
  const detectedService = (
    family.service ?? ((serviceTexts: StreamTexts) => detectService(serviceTexts.name, serviceTexts.description))
  )(texts);
  const service = sourceType === 'external' ? undefined : detectedService;
  const stream: ParsedStream = {
    id: `${addon.instanceId}-${String(index)}`,
    addon,
    upstream,
    hints,
    type: resolveType(sourceType, service, family.type?.(texts)),
    service,
    library: isInLibrary(addon, texts.name) || family.isInLibrary?.(texts) === true,
    proxied: false,
    url: address,
    infoHash,
    fileIdx: toWholeNumber(upstream['fileIdx']),
    sources: toStrings(upstream['sources']),
    private: family.isPrivate?.(texts) === true,
    message: family.message?.(texts),
    ...readFacts(texts, family, { upstream, hints }, readRelease),
  };
  return nestedData === undefined ? stream : applyNestedData(stream, nestedData);
}

function resolveType(
  sourceType: StreamType,
  service: DetectedService | undefined,
  familyType: StreamType | undefined,
): StreamType {
  if (sourceType === 'external' || sourceType === 'live') return service === undefined ? sourceType : 'debrid';
  if (familyType !== undefined && (service !== undefined || sourceType === 'http')) return familyType;
  if (service === undefined) return sourceType;
  return service.id === 'easynews' ? 'usenet' : 'debrid';
}

interface StreamFields {
  readonly upstream: UpstreamStream;
  readonly hints: Readonly<Record<string, unknown>>;
}

type StreamFacts = Pick<
  ParsedStream,
  'filename' | 'folderName' | 'size' | 'folderSize' | 'seeders' | 'age' | 'duration' | 'indexer' | 'file'
>;

/** Reads the facts of a stream from names and texts. */
function readFacts(
  texts: StreamTexts,
  family: AddonFamily,
  { upstream, hints }: StreamFields,
  readRelease: ReadRelease,
): StreamFacts {
  const { description } = texts;
  const { file: filename, folder } =
    family.fileNames?.(texts) ??
    readGeneralNames(texts, (line) => {
      const { year, seasons, episodes } = readRelease(line);
      return year !== undefined || seasons !== undefined || episodes !== undefined;
    });
  const folderName = texts.hintedFolder ?? folder;
  // Numbers within names are not sizes.
  const rest = [filename, folderName].reduce<string>(
    (remainingText, name) => (name ? remainingText.replaceAll(name, ' ') : remainingText),
    description,
  );
  const size = readSize(upstream, hints, { ...texts, description: rest }, family);
  const folderSize = readFolderSize(hints, rest, family, size);
  const fileAttributes = readRelease(filename ?? '');
  const merged = folderName === undefined ? fileAttributes : mergeFiles(fileAttributes, readRelease(folderName));
  const file = addLanguages(
    { ...merged, resolution: merged.resolution ?? findResolution(texts.name) },
    texts,
    family,
    upstream['subtitles'],
  );
  return {
    filename,
    folderName,
    size,
    folderSize,
    seeders: toWholeNumber(upstream['seeders']) ?? parseSeeders(rest),
    age: parseAge(rest),
    duration: readDuration(upstream, `${rest}\n${texts.name}`),
    indexer: readIndexer(texts, rest, family),
    file: isPart(file, size, folderSize) ? { ...file, seasonPack: true } : file,
  };
}

function getMessageText(upstream: UpstreamStream): string {
  return `${toText(upstream['name']) ?? ''} ${toText(upstream['description']) ?? toText(upstream['title']) ?? ''}`;
}

function detectSourceType(
  upstream: UpstreamStream,
  address: string | undefined,
  infoHash: string | undefined,
): StreamType | undefined {
  if (toText(upstream['externalUrl']) !== undefined) return 'external';
  if (address !== undefined) return livePattern.test(address) ? 'live' : 'http';
  if (infoHash !== undefined) return 'p2p';
  if (toText(upstream['ytId']) !== undefined) return 'youtube';
  if (toText(upstream['nzbUrl']) !== undefined) return 'stremio-usenet';
  return archiveMembers.some((member) => Array.isArray(upstream[member])) ? 'archive' : undefined;
}

/** Matches playlists and broadcast protocols. */
const livePattern = /^(?:rtmp\w*|rtsps?|rtp|mms\w*|udp|srt|igmp):|^https?:[^?#]*\.m3u8(?:$|[?#])/i;

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
  const ownHash = upstream['infoHash'];
  if (typeof ownHash === 'string' && hashPattern.test(ownHash)) return ownHash.toLowerCase();
  const url = upstream['url'];
  if (typeof url !== 'string') return undefined;
  return /^magnet:/i.test(url) ? parseMagnetHash(url) : urlHashPattern.exec(url)?.[1]?.toLowerCase();
}

const base32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns the hash of a magnet link, which has 40 hexadecimal digits or 32 digits of Base32. */
function parseMagnetHash(url: string): string | undefined {
  const encodedHash = /btih(?::|%3a)([0-9a-f]{40}|[a-z2-7]{32})(?![0-9a-z])/i.exec(url)?.[1]?.toLowerCase();
  if (encodedHash === undefined || encodedHash.length === 40) return encodedHash;
  const bits = [...encodedHash].map((letter) => base32.indexOf(letter).toString(2).padStart(5, '0')).join('');
  return (bits.match(/.{4}/g) ?? []).map((four) => Number.parseInt(four, 2).toString(16)).join('');
}

/** Adds the languages and subtitles from the texts of a stream. */
function addLanguages(file: ParsedFile, texts: StreamTexts, family: AddonFamily, tracks: unknown): ParsedFile {
  const listed = family.languages?.(texts);
  const flagged = findLanguagesByFlags(`${texts.description}\n${texts.name}\n${texts.hintedName ?? ''}`);
  const audio = listed?.replaces === true ? listed.audio : [...flagged, ...(listed?.audio ?? [])];
  const subtitleLanguages = [...findSubtitlesInStream(tracks, texts.description), ...(listed?.subtitles ?? [])];
  if (audio.length === 0 && subtitleLanguages.length === 0) return file;
  return {
    ...file,
    languages: [...new Set([...file.languages, ...audio])],
    subtitles: [...new Set([...file.subtitles, ...subtitleLanguages])],
  };
}

function readSize(
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
    (toText, icon) => toText.replaceAll(new RegExp(`${icon}[^\\n💾]*`, 'gu'), ' '),
    description,
  );
  return (
    parseSizeAfter(description, icons, sizeBase) ?? parseSize(withoutFolder, sizeBase) ?? parseSize(name, sizeBase)
  );
}

/**
 * Reads the size of the folder from the hints or from `💾 2 GB / 📦 30 GB`. Returns undefined when it equals the size of
 * the file.
 */
function readFolderSize(
  hints: Readonly<Record<string, unknown>>,
  description: string,
  { sizeBase = 1024, folderSizeIcons = [] }: AddonFamily,
  size: number | undefined,
): number | undefined {
  const pair = /(?:💾|📦)[^\n/💾📦]{1,40}\/\s*(?:💾|📦)?\s*([^\n]{1,40})/u.exec(description)?.[1];
  const folderSize =
    toBytes(hints['folderSize']) ??
    parseSizeAfter(description, folderSizeIcons, sizeBase) ??
    (pair === undefined ? undefined : parseSize(pair, sizeBase));
  return folderSize !== undefined && size !== undefined && Math.abs(folderSize - size) / size < 0.05
    ? undefined
    : folderSize;
}

function readDuration(upstream: UpstreamStream, texts: string): number {
  const ownDuration = upstream['duration'];
  return typeof ownDuration === 'number' && Number.isFinite(ownDuration) && ownDuration > 0
    ? ownDuration
    : parseDuration(texts);
}

const indexerIcons = ['🌐', '⚙', '🔗', '🔎', '🔍', '☁'];

function readIndexer(texts: StreamTexts, rest: string, family: AddonFamily): string | undefined {
  const familyIndexer = family.indexer?.(texts);
  if (familyIndexer !== undefined) return familyIndexer;
  if (family.indexer !== undefined) return undefined;
  const markedIndexer = findTextAfter(rest, family.indexerIcons ?? indexerIcons);
  return (markedIndexer ?? findLabeledText(rest, ['Indexer', 'Tracker', 'Source', 'Provider']))?.slice(0, 60);
}

function withoutNulls(item: object): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const key of Object.keys(item)) {
    const value = (item as Record<string, unknown>)[key];
    if (value !== null && value !== undefined && key !== '__proto__') result[key] = value;
  }
  return result;
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function toStrings(value: unknown): readonly string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const texts = value.filter((item) => typeof item === 'string');
  return texts.length === 0 ? undefined : texts;
}

function toWholeNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
