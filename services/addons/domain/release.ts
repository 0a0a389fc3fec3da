import { parseTorrentTitle } from '@viren070/parse-torrent-title';
import { findOwn } from '../../contracts/find-own.ts';
import { findLanguageByCode, findLanguagesByWords } from './languages.ts';
import type { ParsedFile } from './stream.ts';
import { findSubtitlesInName } from './subtitles.ts';

/** Maximum parsed length of a name. */
const maxNameLength = 400;

const resolutions: Readonly<Record<string, string>> = { '4k': '2160p', '2k': '1440p', '540p': '576p', '8k': '2160p' };
const qualities: Readonly<Record<string, string>> = {
  'BluRay REMUX': 'BluRay REMUX',
  REMUX: 'BluRay REMUX',
  BluRay: 'BluRay',
  BDRip: 'BluRay',
  BRRip: 'BluRay',
  UHDRip: 'BluRay',
  'WEB-DL': 'WEB-DL',
  WEB: 'WEB-DL',
  'WEB-DLRip': 'WEBRip',
  WEBRip: 'WEBRip',
  WEBCap: 'WEBRip',
  HDRip: 'HDRip',
  DVD: 'DVDRip',
  DVDRip: 'DVDRip',
  HDTV: 'HDTV',
  HDTVRip: 'HDTV',
  PDTV: 'HDTV',
  SDTV: 'HDTV',
  TVRip: 'HDTV',
  SATRip: 'HDTV',
  CAM: 'CAM',
  TeleSync: 'TS',
  TeleCine: 'TC',
  SCR: 'SCR',
};
const encodes: Readonly<Record<string, string>> = {
  hevc: 'HEVC',
  h265: 'HEVC',
  x265: 'HEVC',
  avc: 'AVC',
  h264: 'AVC',
  x264: 'AVC',
  av1: 'AV1',
  vc1: 'VC-1',
  'vc-1': 'VC-1',
  xvid: 'XviD',
  divx: 'DivX',
  mpeg2: 'MPEG-4',
  mpeg4: 'MPEG-4',
};
const audio: Readonly<Record<string, string>> = {
  Atmos: 'Atmos',
  DDP: 'DD+',
  EAC3: 'DD+',
  DD: 'DD',
  AC3: 'DD',
  TrueHD: 'TrueHD',
  'DTS Lossless': 'DTS-HD MA',
  'DTS Lossy': 'DTS',
  AAC: 'AAC',
  FLAC: 'FLAC',
  PCM: 'PCM',
  OPUS: 'OPUS',
};
const channels: Readonly<Record<string, string>> = { stereo: '2.0', mono: '2.0' };

/** Builds a pattern for a tag, which is a word between separators. */
const createTagPattern = (pattern: string): RegExp =>
  new RegExp(String.raw`(?<![^\s[(_\-.,+|])(?:${pattern})(?=[\s)\]_\-.,+|]|$)`, 'i');

/** Tags that the parser confuses or does not detect. */
const visualPatterns: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['10bit', createTagPattern(String.raw`10[ ._-]?bits?|hi10p?|main10`)],
  ['HDR10+', createTagPattern(String.raw`hdr[ ._-]?10[ ._-]?(?:p(?:lus)?|\+)`)],
  ['HDR10', createTagPattern(String.raw`hdr[ ._-]?10(?![ ._-]?(?:\+|p(?:lus)?|bit|hi))`)],
  ['HDR', createTagPattern(String.raw`hdr(?![ ._-]?(?:10(?![ ._-]?(?:bit|hi))|\+|p(?:lus)?(?![a-z])))`)],
  ['HLG', createTagPattern('hlg')],
  ['DV', createTagPattern(String.raw`dv|dovi|do?(?:lby)?[ ._-]?vi(?:sion)?`)],
  ['IMAX', createTagPattern('imax')],
  ['AI', createTagPattern(String.raw`ai[ ._-]?(?:enhanced?|upscaled?|re[ ._-]?graded?)|upscaled?[ ._-]ai`)],
  ['SDR', createTagPattern('sdr')],
  ['H-OU', createTagPattern(String.raw`h(?:alf)?[ ._-]?ou|(?:half[ ._-]?)?over[ ._-]?under`)],
  ['H-SBS', createTagPattern(String.raw`h(?:alf)?[ ._-]?sbs|(?:half[ ._-]?)?side[ ._-]?by[ ._-]?side`)],
];
const audioPatterns: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['DTS:X', createTagPattern(String.raw`dts[ ._:-]?x`)],
  ['DTS-HD MA', createTagPattern(String.raw`dts[ ._-]?hd[ ._-]?ma(?:[ ._-]?\d[ ._-]\d)?`)],
  ['DTS-HD', createTagPattern(String.raw`dts[ ._-]?hd(?![ ._-]?ma)`)],
  ['DTS-ES', createTagPattern(String.raw`dts[ ._-]?es`)],
];
const anyPattern =
  /HDR|HLG|IMAX|10[ ._-]?bit|hi10|main10|DTS|(?<![a-z])AI[ ._-]|upscale|sdr|(?<![a-z])(?:dv|dovi|dolby)|sbs|side|over|h-?ou/i;

/** Recordings in a cinema, and other sources that the parser classifies as better ones. */
const sourcePatterns: readonly (readonly [quality: string, pattern: RegExp])[] = [
  ['CAM', createTagPattern(String.raw`(?:hd|hq|web|clean)?[ ._-]?cam(?:[ ._-]?rip)?|s[ ._-]print`)],
  [
    'TS',
    createTagPattern(
      String.raw`telesync|(?:hd|hq)[ ._-]?ts(?:[ ._-]?rip)?|ts[ ._-]?rip|p(?:re)?[ ._-]?dvd(?:[ ._-]?rip)?`,
    ),
  ],
  ['TC', createTagPattern(String.raw`telecine|(?:hd|hq)[ ._-]?tc(?:[ ._-]?rip)?`)],
  ['SCR', createTagPattern(String.raw`(?:dvd|bd|br|web|hd)?[ ._-]?scr(?:eener)?`)],
  ['DVD REMUX', createTagPattern(String.raw`(?:hd[ ._-]?)?dvd\d?[ ._-]?remux|remux[ ._-]?(?:hd[ ._-]?)?dvd`)],
  ['HC HD-Rip', createTagPattern(String.raw`hc[ ._-]?hd[ ._-]?rip`)],
];
const cinemaPattern = /cam|print|ts|tc|telesync|telecine|scr|remux|hc|dvd/i;
/** Joins the words, so that the second word is not detected as the group. */
const separatedCinemaPattern = /(?<![a-z\d])(hd|hq)[ ._-](cam|ts|tc)(?=[ ._\-)\]]|rip|$)/gi;
/** File extensions that the parser classifies as sources. */
const transportStream = /\.(m2ts|mts|ts)$/i;

/** Returns true for whole seasons. */
function isSeasonPack(seasons: readonly number[] | undefined, episodes: readonly number[] | undefined): boolean {
  return (seasons?.length ?? 0) > 0 && (episodes?.length ?? 0) === 0;
}

/** Parses the name of a release. */
export function parseRelease(name: string): ParsedFile {
  const shortName = name.slice(0, maxNameLength);
  const streamExtension = transportStream.exec(shortName)?.[1];
  const text = (streamExtension === undefined ? shortName : shortName.slice(0, -streamExtension.length - 1)).replaceAll(
    separatedCinemaPattern,
    '$1$2',
  );
  // The parser reads Spanish in DTS-ES.
  const parsed = parseTorrentTitle(text.replaceAll(/(?<![a-z])(dts)[ ._-]es(?![a-z])/gi, '$1'));
  const rest = text.slice(findTitleEnd(text, parsed.title));
  const resolution = parsed.resolution?.toLowerCase();
  return {
    title: parsed.title,
    year: parsed.year,
    seasons: parsed.seasons,
    episodes: parsed.episodes,
    resolution:
      resolution === undefined ? undefined : (findOwn(resolutions, resolution) ?? resolution.replace(/i$/, 'p')),
    quality: getQuality(rest, parsed.quality),
    encode: parsed.codec === undefined ? undefined : encodes[parsed.codec.toLowerCase()],
    releaseGroup: parsed.group,
    network: parsed.network,
    container: parsed.container ?? streamExtension?.toLowerCase(),
    extension: parsed.extension ?? streamExtension?.toLowerCase(),
    episodeTitle: parsed.episodeTitle,
    country: parsed.country,
    date: parsed.date,
    editions: (parsed.editions ?? []).filter((edition) => edition !== 'IMAX'),
    visualTags: getVisualTags(rest, parsed),
    audioTags: getAudioTags(rest, parsed.audio),
    audioChannels: mapNames(parsed.channels, channels, true),
    languages: getLanguages(rest, parsed),
    subtitles: findSubtitlesInName(rest),
    subbed: parsed.subbed === true,
    dubbed: parsed.dubbed === true,
    proper: parsed.proper === true ? true : undefined,
    repack: parsed.repack === true ? true : undefined,
    regraded: parsed.regraded === true ? true : undefined,
    uncensored: parsed.uncensored === true ? true : undefined,
    unrated: parsed.unrated === true ? true : undefined,
    seasonPack: isSeasonPack(parsed.seasons, parsed.episodes),
  };
}

type ParsedTitle = ReturnType<typeof parseTorrentTitle>;

/** Returns the resolution in a text, such as `[RD+] Torrentio 4k`. */
export function findResolution(text: string): string | undefined {
  const match = /(?<![\p{L}\d])(?:([248]k)|(2160|1440|1080|720|576|540|480|360|240|144)[pi])(?![\p{L}\d])/iu.exec(text);
  if (match === null) return undefined;
  const resolution = match[1]?.toLowerCase() ?? `${match[2] ?? ''}p`;
  return findOwn(resolutions, resolution) ?? resolution;
}

/** Returns the end of the title, because words of the title are not attributes of the release. */
function findTitleEnd(text: string, title: string | undefined): number {
  if (title === undefined) return 0;
  const index = text.replaceAll(/[._]/g, ' ').indexOf(title);
  return index === -1 ? Math.min(title.length, text.length) : index + title.length;
}

function getQuality(rest: string, quality: string | undefined): string | undefined {
  const source = cinemaPattern.test(rest) ? sourcePatterns.find(([, pattern]) => pattern.test(rest))?.[0] : undefined;
  if (source !== undefined) return source;
  return quality === undefined ? undefined : qualities[quality];
}

function getVisualTags(rest: string, parsed: ParsedTitle): readonly string[] {
  const tags = new Set<string>();
  const matchedPatterns = anyPattern.test(rest) ? visualPatterns.filter(([, pattern]) => pattern.test(rest)) : [];
  const ranges = matchedPatterns.map(([name]) => name).filter((name) => name.startsWith('HDR'));
  // The parser reports every high dynamic range as HDR.
  for (const range of parsed.hdr ?? []) if (range !== 'HDR' || ranges.length === 0) tags.add(range);
  for (const [name] of matchedPatterns) tags.add(name);
  if (parsed.threeD !== undefined) tags.add(toThreeDTag(parsed.threeD));
  if (parsed.upscaled === true) tags.add('Upscaled');
  return [...tags];
}

function getAudioTags(rest: string, parserTags: readonly string[] | undefined): readonly string[] {
  const matchedTags = anyPattern.test(rest)
    ? audioPatterns.filter(([, pattern]) => pattern.test(rest)).map(([name]) => name)
    : [];
  const hasDts = matchedTags.some((name) => name.startsWith('DTS'));
  const mappedTags = mapNames(
    parserTags?.filter((parserTag) => !(hasDts && parserTag.startsWith('DTS'))),
    audio,
    false,
  );
  return [...new Set([...mappedTags, ...matchedTags])];
}

function getLanguages(rest: string, parsed: ParsedTitle): readonly string[] {
  const languages = new Set<string>();
  for (const code of parsed.languages ?? []) {
    const language = findLanguageByCode(code);
    if (language !== undefined) languages.add(language);
  }
  for (const language of findLanguagesByWords(rest)) languages.add(language);
  if (parsed.dubbed === true && languages.size === 0) languages.add('Dubbed');
  return [...languages];
}

/**
 * Maps values to names.
 *
 * @param keepUnknown Keeps values without a name.
 */
function mapNames(
  values: readonly string[] | undefined,
  names: Readonly<Record<string, string>>,
  keepUnknown: boolean,
): string[] {
  if (values === undefined) return [];
  const result: string[] = [];
  for (const value of values) {
    const name = findOwn(names, value) ?? (keepUnknown ? value : undefined);
    if (name !== undefined && !result.includes(name)) result.push(name);
  }
  return result;
}

function toThreeDTag(createTagPattern: string): string {
  if (createTagPattern.includes('SBS')) return 'H-SBS';
  return createTagPattern.includes('OU') ? 'H-OU' : '3D';
}
