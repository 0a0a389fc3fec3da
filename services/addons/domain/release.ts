import { parseTorrentTitle } from '@viren070/parse-torrent-title';
import { findOwn } from '../../contracts/find-own.ts';
import { languageOfCode, languagesOfWords } from './languages.ts';
import type { ParsedFile } from './stream.ts';
import { subtitlesOfName } from './subtitles.ts';

/** Maximum parsed length of a name. */
const longestName = 400;

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
const tag = (pattern: string): RegExp =>
  new RegExp(String.raw`(?<![^\s[(_\-.,+|])(?:${pattern})(?=[\s)\]_\-.,+|]|$)`, 'i');

/** Tags that the parser confuses or does not detect. */
const visualPatterns: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['10bit', tag(String.raw`10[ ._-]?bits?|hi10p?|main10`)],
  ['HDR10+', tag(String.raw`hdr[ ._-]?10[ ._-]?(?:p(?:lus)?|\+)`)],
  ['HDR10', tag(String.raw`hdr[ ._-]?10(?![ ._-]?(?:\+|p(?:lus)?|bit|hi))`)],
  ['HDR', tag(String.raw`hdr(?![ ._-]?(?:10(?![ ._-]?(?:bit|hi))|\+|p(?:lus)?(?![a-z])))`)],
  ['HLG', tag('hlg')],
  ['DV', tag(String.raw`dv|dovi|do?(?:lby)?[ ._-]?vi(?:sion)?`)],
  ['IMAX', tag('imax')],
  ['AI', tag(String.raw`ai[ ._-]?(?:enhanced?|upscaled?|re[ ._-]?graded?)|upscaled?[ ._-]ai`)],
  ['SDR', tag('sdr')],
  ['H-OU', tag(String.raw`h(?:alf)?[ ._-]?ou|(?:half[ ._-]?)?over[ ._-]?under`)],
  ['H-SBS', tag(String.raw`h(?:alf)?[ ._-]?sbs|(?:half[ ._-]?)?side[ ._-]?by[ ._-]?side`)],
];
const audioPatterns: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['DTS:X', tag(String.raw`dts[ ._:-]?x`)],
  ['DTS-HD MA', tag(String.raw`dts[ ._-]?hd[ ._-]?ma(?:[ ._-]?\d[ ._-]\d)?`)],
  ['DTS-HD', tag(String.raw`dts[ ._-]?hd(?![ ._-]?ma)`)],
  ['DTS-ES', tag(String.raw`dts[ ._-]?es`)],
];
const anyPattern =
  /HDR|HLG|IMAX|10[ ._-]?bit|hi10|main10|DTS|(?<![a-z])AI[ ._-]|upscale|sdr|(?<![a-z])(?:dv|dovi|dolby)|sbs|side|over|h-?ou/i;

/** Recordings in a cinema, and other sources that the parser classifies as better ones. */
const sourcePatterns: readonly (readonly [quality: string, pattern: RegExp])[] = [
  ['CAM', tag(String.raw`(?:hd|hq|web|clean)?[ ._-]?cam(?:[ ._-]?rip)?|s[ ._-]print`)],
  ['TS', tag(String.raw`telesync|(?:hd|hq)[ ._-]?ts(?:[ ._-]?rip)?|ts[ ._-]?rip|p(?:re)?[ ._-]?dvd(?:[ ._-]?rip)?`)],
  ['TC', tag(String.raw`telecine|(?:hd|hq)[ ._-]?tc(?:[ ._-]?rip)?`)],
  ['SCR', tag(String.raw`(?:dvd|bd|br|web|hd)?[ ._-]?scr(?:eener)?`)],
  ['DVD REMUX', tag(String.raw`(?:hd[ ._-]?)?dvd\d?[ ._-]?remux|remux[ ._-]?(?:hd[ ._-]?)?dvd`)],
  ['HC HD-Rip', tag(String.raw`hc[ ._-]?hd[ ._-]?rip`)],
];
const cinemaWord = /cam|print|ts|tc|telesync|telecine|scr|remux|hc|dvd/i;
/** Joins the words, so that the second word is not detected as the group. */
const cinemaInTwo = /(?<![a-z\d])(hd|hq)[ ._-](cam|ts|tc)(?=[ ._\-)\]]|rip|$)/gi;
/** File extensions that the parser classifies as sources. */
const transportStream = /\.(m2ts|mts|ts)$/i;

/** Returns true for whole seasons. */
function isSeasonPack(seasons: readonly number[] | undefined, episodes: readonly number[] | undefined): boolean {
  return (seasons?.length ?? 0) > 0 && (episodes?.length ?? 0) === 0;
}

/** Parses the name of a release. */
export function parseRelease(name: string): ParsedFile {
  const cut = name.slice(0, longestName);
  const stream = transportStream.exec(cut)?.[1];
  const text = (stream === undefined ? cut : cut.slice(0, -stream.length - 1)).replaceAll(cinemaInTwo, '$1$2');
  const found = parseTorrentTitle(text);
  const rest = text.slice(startOfRest(text, found.title));
  const resolution = found.resolution?.toLowerCase();
  return {
    title: found.title,
    year: found.year,
    seasons: found.seasons,
    episodes: found.episodes,
    resolution:
      resolution === undefined ? undefined : (findOwn(resolutions, resolution) ?? resolution.replace(/i$/, 'p')),
    quality: qualityOf(rest, found.quality),
    encode: found.codec === undefined ? undefined : encodes[found.codec.toLowerCase()],
    releaseGroup: found.group,
    network: found.network,
    container: found.container ?? stream?.toLowerCase(),
    extension: found.extension ?? stream?.toLowerCase(),
    episodeTitle: found.episodeTitle,
    country: found.country,
    date: found.date,
    editions: (found.editions ?? []).filter((edition) => edition !== 'IMAX'),
    visualTags: visualTagsOf(rest, found),
    audioTags: audioTagsOf(rest, found.audio),
    audioChannels: mapped(found.channels, channels, true),
    languages: languagesOf(rest, found),
    subtitles: subtitlesOfName(rest),
    subbed: found.subbed === true,
    dubbed: found.dubbed === true,
    proper: found.proper === true ? true : undefined,
    repack: found.repack === true ? true : undefined,
    regraded: found.regraded === true ? true : undefined,
    uncensored: found.uncensored === true ? true : undefined,
    unrated: found.unrated === true ? true : undefined,
    seasonPack: isSeasonPack(found.seasons, found.episodes),
  };
}

type Found = ReturnType<typeof parseTorrentTitle>;

/** Returns the end of the title, because words of the title are no attributes of the release. */
function startOfRest(text: string, title: string | undefined): number {
  if (title === undefined) return 0;
  const index = text.replaceAll(/[._]/g, ' ').indexOf(title);
  return index === -1 ? Math.min(title.length, text.length) : index + title.length;
}

function qualityOf(rest: string, quality: string | undefined): string | undefined {
  const source = cinemaWord.test(rest) ? sourcePatterns.find(([, pattern]) => pattern.test(rest))?.[0] : undefined;
  if (source !== undefined) return source;
  return quality === undefined ? undefined : qualities[quality];
}

function visualTagsOf(rest: string, found: Found): readonly string[] {
  const tags = new Set<string>();
  const own = anyPattern.test(rest) ? visualPatterns.filter(([, pattern]) => pattern.test(rest)) : [];
  const ranges = own.map(([name]) => name).filter((name) => name.startsWith('HDR'));
  // The parser reports every high dynamic range as HDR.
  for (const one of found.hdr ?? []) if (one !== 'HDR' || ranges.length === 0) tags.add(one);
  for (const [name] of own) tags.add(name);
  if (found.threeD !== undefined) tags.add(threeD(found.threeD));
  if (found.upscaled === true) tags.add('Upscaled');
  return [...tags];
}

function audioTagsOf(rest: string, found: readonly string[] | undefined): readonly string[] {
  const own = anyPattern.test(rest)
    ? audioPatterns.filter(([, pattern]) => pattern.test(rest)).map(([name]) => name)
    : [];
  const hasDts = own.some((name) => name.startsWith('DTS'));
  const told = mapped(
    found?.filter((one) => !(hasDts && one.startsWith('DTS'))),
    audio,
    false,
  );
  return [...new Set([...told, ...own])];
}

function languagesOf(rest: string, found: Found): readonly string[] {
  const languages = new Set<string>();
  for (const code of found.languages ?? []) {
    const language = languageOfCode(code);
    if (language !== undefined) languages.add(language);
  }
  for (const language of languagesOfWords(rest)) languages.add(language);
  if (found.dubbed === true && languages.size === 0) languages.add('Dubbed');
  return [...languages];
}

/**
 * Maps values to names.
 *
 * @param unknown Keeps values without a name.
 */
function mapped(
  values: readonly string[] | undefined,
  names: Readonly<Record<string, string>>,
  unknown: boolean,
): string[] {
  if (values === undefined) return [];
  const result: string[] = [];
  for (const value of values) {
    const name = findOwn(names, value) ?? (unknown ? value : undefined);
    if (name !== undefined && !result.includes(name)) result.push(name);
  }
  return result;
}

function threeD(tag: string): string {
  if (tag.includes('SBS')) return 'H-SBS';
  return tag.includes('OU') ? 'H-OU' : '3D';
}
