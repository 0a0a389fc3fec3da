import { parseTorrentTitle } from '@viren070/parse-torrent-title';
import { languageOfCode } from './languages.ts';
import type { ParsedFile } from './stream.ts';

/** Names are looked at this far; more is no name. */
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

/** What the parser does not tell apart. */
const furtherTags: readonly (readonly [RegExp, 'visual' | 'audio', string])[] = [
  [/\bHLG\b/i, 'visual', 'HLG'],
  [/\bIMAX\b/i, 'visual', 'IMAX'],
  [/\b(?:AI[ ._-]?(?:enhanced|upscaled?)|upscaled?[ ._-]AI)\b/i, 'visual', 'AI'],
  [/\b10[ ._-]?bits?\b/i, 'visual', '10bit'],
  [/\bDTS[ ._-]?X\b/i, 'audio', 'DTS:X'],
  [/\bDTS[ ._-]?ES\b/i, 'audio', 'DTS-ES'],
];
const furtherAny = /HLG|IMAX|10[ ._-]?bit|DTS[ ._-]?(?:X|ES)|(?<![a-z])AI[ ._-]|upscale/i;

/** Whole seasons without an episode. */
function isSeasonPack(seasons: readonly number[] | undefined, episodes: readonly number[] | undefined): boolean {
  return (seasons?.length ?? 0) > 0 && (episodes?.length ?? 0) === 0;
}

/** What the name of a release says. */
export function parseRelease(name: string): ParsedFile {
  const text = name.slice(0, longestName);
  const found = parseTorrentTitle(text);
  const visualTags: string[] = [];
  for (const tag of found.hdr ?? []) visualTags.push(tag);
  if (found.threeD !== undefined) visualTags.push(threeD(found.threeD));
  if (found.upscaled === true) visualTags.push('Upscaled');
  const audioTags = mapped(found.audio, audio, false);
  if (furtherAny.test(text)) {
    const rest = text.slice(found.title?.length ?? 0);
    for (const [pattern, kind, tag] of furtherTags) {
      const tags = kind === 'visual' ? visualTags : audioTags;
      if (pattern.test(rest) && !tags.includes(tag)) tags.push(tag);
    }
  }
  const languages: string[] = [];
  for (const code of found.languages ?? []) {
    const language = languageOfCode(code);
    if (language !== undefined) languages.push(language);
  }
  if (found.dubbed === true && languages.length === 0) languages.push('Dubbed');
  const resolution = found.resolution?.toLowerCase();
  return {
    title: found.title,
    year: found.year,
    seasons: found.seasons,
    episodes: found.episodes,
    resolution: resolution === undefined ? undefined : (resolutions[resolution] ?? resolution),
    quality: found.quality === undefined ? undefined : (qualities[found.quality] ?? undefined),
    encode: found.codec === undefined ? undefined : encodes[found.codec.toLowerCase()],
    releaseGroup: found.group,
    network: found.network,
    container: found.container,
    extension: found.extension,
    episodeTitle: found.episodeTitle,
    editions: (found.editions ?? []).filter((edition) => edition !== 'IMAX'),
    visualTags,
    audioTags,
    audioChannels: mapped(found.channels, channels, true),
    languages,
    subtitles: [],
    subbed: found.subbed === true,
    dubbed: found.dubbed === true,
    proper: found.proper === true ? true : undefined,
    repack: found.repack === true ? true : undefined,
    seasonPack: isSeasonPack(found.seasons, found.episodes),
  };
}

/** `unknown` stay as they are where they are welcome. */
function mapped(
  values: readonly string[] | undefined,
  names: Readonly<Record<string, string>>,
  unknown: boolean,
): string[] {
  if (values === undefined) return [];
  const result: string[] = [];
  for (const value of values) {
    const name = names[value] ?? (unknown ? value : undefined);
    if (name !== undefined && !result.includes(name)) result.push(name);
  }
  return result;
}

function threeD(tag: string): string {
  if (tag.includes('SBS')) return 'H-SBS';
  return tag.includes('OU') ? 'H-OU' : '3D';
}
