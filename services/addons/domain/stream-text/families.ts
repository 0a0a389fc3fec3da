import { languageOfCode3, languageOfName, languagesOfFlags } from '../languages.ts';
import type { StreamAddon, StreamType } from '../stream.ts';
import { bareLines, isSameName, isVideoName, looksLikeRelease, splitPath, type FileNames } from './file-names.ts';
import { labelled, textAfter } from './text-fields.ts';
import { serviceMark, type ServiceMark } from './detect-service.ts';
import type { SizeBase } from './sizes.ts';

/** Texts of a stream that addons use for facts. */
export interface StreamTexts {
  readonly name: string;
  readonly description: string;
  /** File name in the hints of the stream. */
  readonly hinted: string | undefined;
  readonly hintedFolder: string | undefined;
}

/**
 * Languages listed in a description.
 *
 * @param replaces The list is complete and replaces languages from names.
 */
export interface ListedLanguages {
  readonly audio: readonly string[];
  readonly subtitles: readonly string[];
  readonly replaces: boolean;
}

/** Format of the streams of one family of addons. Fields that are absent use the general rules. */
export interface AddonFamily {
  readonly id: string;
  /** Matches the preset, the name or address of the addon, or the name of a stream. */
  readonly pattern: RegExp;
  readonly sizeBase?: SizeBase;
  readonly fileNames?: (texts: StreamTexts) => FileNames;
  readonly service?: (texts: StreamTexts) => ServiceMark | undefined;
  /** Icons before the name of the indexer, instead of the default icons. */
  readonly indexerIcons?: readonly string[];
  readonly indexer?: (texts: StreamTexts) => string | undefined;
  /** Icons before the size of the complete torrent. */
  readonly folderSizeIcons?: readonly string[];
  readonly languages?: (texts: StreamTexts) => ListedLanguages | undefined;
  readonly type?: (texts: StreamTexts) => StreamType | undefined;
  readonly isInLibrary?: (texts: StreamTexts) => boolean;
  readonly isPrivate?: (texts: StreamTexts) => boolean;
  readonly message?: (texts: StreamTexts) => string | undefined;
  /** Returns true for entries that are notes of the addon instead of streams. */
  readonly isNote?: (texts: StreamTexts) => boolean;
}

const flagsAfter = (text: string, icon: string): readonly string[] => {
  const found = new RegExp(String.raw`${icon}\u{FE0F}?\s*((?:[\u{1F1E6}-\u{1F1FF}]{2}[\s/]*)+)`, 'u').exec(text);
  return found === null ? [] : languagesOfFlags(found[1] ?? '');
};

const markedLanguages =
  (audio: string, subtitles: string) =>
  ({ description }: StreamTexts): ListedLanguages | undefined => {
    const found = { audio: flagsAfter(description, audio), subtitles: flagsAfter(description, subtitles) };
    return found.audio.length + found.subtitles.length === 0
      ? undefined
      : { ...found, replaces: found.audio.length > 0 };
  };

/** Reads the torrent from the first line and the file from the second line. */
function torrentLines({ description, hinted }: StreamTexts): FileNames {
  const [first = '', second = ''] = bareLines(description);
  const file = hinted ?? (isVideoName(second) && !isVideoName(first) ? second : undefined);
  if (file === undefined || first === '') return { file: first === '' ? undefined : first, folder: undefined };
  return { file, folder: isSameName(file, first) ? undefined : first };
}

/** Reads the file after `📄` and the folder after `📁` or `📂`. Without a folder, either icon marks the file. */
function iconNames({ description, hinted }: StreamTexts): FileNames {
  const file = textAfter(description, ['📄', '┈➤']);
  const folder = textAfter(description, ['📂', '📁'])?.split('┈➤')[0]?.trim();
  const name = hinted ?? file ?? folder;
  return {
    file: name,
    folder: name === undefined || folder === undefined || isSameName(name, folder) ? undefined : folder,
  };
}

const torrentio: AddonFamily = {
  id: 'torrentio',
  pattern: /torrentio|torrents-?db|knight-?crawler|annatar/i,
  fileNames: torrentLines,
  // Flags after "Multi Subs" are subtitle languages.
  languages: ({ description }) => {
    const line = description.trimEnd().split('\n').at(-1) ?? '';
    const at = line.search(/multi subs/i);
    return at === -1 ? undefined : { audio: [], subtitles: languagesOfFlags(line.slice(at)), replaces: true };
  },
};

const comet: AddonFamily = {
  id: 'comet',
  pattern: /comet/i,
  fileNames: (texts) => {
    const marked = textAfter(texts.description, ['📄']);
    return marked === undefined
      ? torrentLines(texts)
      : { file: texts.hinted ?? marked, folder: otherName(texts.hinted, marked) };
  },
  indexerIcons: ['🔎', '🔍'],
  isNote: ({ description }) => /digitally released yet\.|Sync debrid account library now/i.test(description),
};

function otherName(hinted: string | undefined, marked: string): string | undefined {
  return hinted === undefined || isSameName(hinted, marked) ? undefined : marked;
}

const mediaFusion: AddonFamily = {
  id: 'mediafusion',
  pattern: /media-?fusion/i,
  sizeBase: 1000,
  fileNames: (texts) => (/📂|📄/u.test(texts.description) ? iconNames(texts) : torrentLines(texts)),
  // The globe icon precedes languages in this family.
  indexer: ({ description }) => {
    const contributor = textAfter(description, ['🧑‍💻']);
    const parts = [
      textAfter(description, ['🔗']),
      contributor === undefined ? undefined : `Contributor|${contributor}`,
    ];
    return parts.filter((part) => part !== undefined).join('|') || undefined;
  },
  languages: ({ description }) => {
    const names = /🌐\s*([^\n]{1,200})/u.exec(description)?.[1]?.split(/[|+,/•]/) ?? [];
    const audio = names.flatMap((name) => languageOfName(name.trim()) ?? []);
    return audio.length === 0 ? undefined : { audio, subtitles: [], replaces: false };
  },
  type: ({ description }) => (/📰\s*Usenet|Usenet\/NZB/iu.test(description) ? 'usenet' : undefined),
  message: ({ description }) =>
    /Update IMDb metadata|Upload torrent for/i.test(description) ? description.slice(0, 200) : undefined,
  isNote: ({ description }) => /🚫 Streams Found\n⚙️ Filtered/u.test(description),
};

const stremThru: AddonFamily = {
  id: 'stremthru',
  pattern: /strem-?thru/i,
  fileNames: (texts) => (/📄|📁/u.test(texts.description) ? iconNames(texts) : torrentLines(texts)),
  indexerIcons: ['🔍', '🔎'],
  folderSizeIcons: ['📦'],
  languages: markedLanguages('🎙', '💬'),
  type: ({ name }) => (/usenet/i.test(name) ? 'usenet' : undefined),
  isPrivate: ({ name }) => name.includes('🔑'),
};

const meteor: AddonFamily = {
  id: 'meteor',
  pattern: /meteor/i,
  indexer: ({ description }) => textAfter(description, ['🔗', '📰'])?.replace(/^usenet\s*·\s*/i, ''),
  languages: markedLanguages('🌐', '💬'),
  type: ({ description }) => (/(?:🔗|📰)\s*usenet/iu.test(description) ? 'usenet' : undefined),
  isInLibrary: ({ name }) => name.includes('📫'),
};

const jackettio: AddonFamily = {
  id: 'jackettio',
  pattern: /jackettio|stream-?fusion|peerflix|fk-?stream/i,
  fileNames: torrentLines,
};

const torBox: AddonFamily = {
  id: 'torbox',
  pattern: /^torbox(?!-)|stremio\.torbox/i,
  service: ({ name, description }) => ({
    id: 'torbox',
    cached: /instant|your media/i.test(name) || /Click play to start/i.test(description),
  }),
  indexer: ({ description }) => labelled(description, ['Source']),
  type: ({ description }) => {
    const type = labelled(description, ['Type']);
    if (type === undefined) return undefined;
    return /torrent/i.test(type) ? 'debrid' : 'usenet';
  },
  isInLibrary: ({ name, description }) => /your media/i.test(name) || /Click play to start/i.test(description),
};

const dmm: AddonFamily = {
  id: 'dmm-cast',
  pattern: /\bdmm\b|debrid ?media ?manager/i,
  service: ({ name, description }) => {
    const found = /\b(TB|RD|AD|TRB)\b/.exec(`${name} - ${description}`)?.[1];
    if (found === undefined) return undefined;
    return { id: found === 'RD' ? 'realdebrid' : found === 'AD' ? 'alldebrid' : 'torbox', cached: true };
  },
  isInLibrary: ({ description }) => (description.trimEnd().split('\n').at(-1) ?? '').includes('Yours'),
  message: ({ description }) => (description.includes('Cast a file') ? description.slice(0, 200) : undefined),
};

const easynews: AddonFamily = {
  id: 'easynews',
  pattern: /easynews/i,
  type: () => 'usenet',
  service: (texts) => serviceMark(texts.name, texts.description) ?? { id: 'easynews', cached: true },
  // The globe icon precedes three-letter language codes in this family.
  indexerIcons: ['🔎', '🔍'],
  languages: ({ description }) => {
    const codes = (icon: RegExp): readonly string[] =>
      (icon.exec(description)?.[1] ?? '').split(',').flatMap((code) => languageOfCode3(code.trim()) ?? []);
    const found = { audio: codes(/🌐\s*([^\n]{1,200})/u), subtitles: codes(/💬\s*([^\n]{1,200})/u) };
    return found.audio.length + found.subtitles.length === 0 ? undefined : { ...found, replaces: false };
  },
};

const sootio: AddonFamily = {
  id: 'sootio',
  pattern: /sootio/i,
  indexer: ({ description }) => /[☁💾]\u{FE0F}?[^|\n]*\|\s*([^\n|]{1,100})/u.exec(description)?.[1]?.trim(),
  isInLibrary: ({ description }) => description.includes('[Cloud]'),
};

const brazuca: AddonFamily = {
  id: 'brazuca',
  pattern: /brazuca/i,
  fileNames: (texts) => {
    const lines = texts.description.split('\n');
    const saved = lines.findIndex((line) => line.includes('💾'));
    const bare = bareLines(texts.description);
    if (saved < 2) return torrentLines(texts);
    return { file: texts.hinted ?? bare[saved - 1], folder: bare[0] };
  },
};

const baguettio: AddonFamily = {
  id: 'baguettio',
  pattern: /baguettio/i,
  indexer: ({ description }) => /([\w.-]+)(?:\(🧲\))?\s*💾/u.exec(description)?.[1],
};

/** Addons for web hosts, which write the source into the name of the stream. */
const webHosts: AddonFamily = {
  id: 'nuvio',
  pattern: /nuvio|webstreamr|flix-?streams|hd-?hub/i,
  indexer: ({ name, description }) =>
    textAfter(description, ['🔗']) ?? (name.split('\n')[0]?.split('|')[0]?.split(' - ')[0]?.trim() || undefined),
};

const debridio: AddonFamily = { id: 'debridio', pattern: /debridio/i, indexerIcons: ['⚙', '🔎'] };

const orion: AddonFamily = {
  id: 'orion',
  pattern: /orion/i,
  indexerIcons: ['☁', '⚙'],
};

const families: readonly AddonFamily[] = [
  torrentio,
  comet,
  mediaFusion,
  stremThru,
  meteor,
  jackettio,
  torBox,
  dmm,
  easynews,
  sootio,
  brazuca,
  baguettio,
  webHosts,
  debridio,
  orion,
];

const general: AddonFamily = { id: 'general', pattern: /(?:)/ };

/** Returns the family of an addon. Unknown addons use the general rules. */
export function familyOf({ presetType, name, manifestUrl }: StreamAddon, streamName: string): AddonFamily {
  const host = URL.parse(manifestUrl)?.hostname ?? '';
  const path = URL.parse(manifestUrl)?.pathname.slice(0, 60) ?? '';
  for (const text of [presetType === 'custom' ? '' : presetType, name, host, path, streamName]) {
    const found = text === '' ? undefined : families.find(({ pattern }) => pattern.test(text));
    if (found !== undefined) return found;
  }
  return general;
}

/** Reads the names of the file and its folder by the general rules. */
export function generalNames(
  { description, hinted, hintedFolder }: StreamTexts,
  isRelease: (line: string) => boolean,
): FileNames {
  const lines = bareLines(description);
  if (hinted !== undefined) {
    const { file = hinted, folder } = splitPath(hinted);
    const first = lines[0] ?? '';
    const other = hintedFolder ?? folder ?? (looksLikeRelease(first) ? first : undefined);
    return { file, folder: other === undefined || isSameName(other, file) ? undefined : other };
  }
  const video = lines.find((line) => isVideoName(line));
  const release = lines.find((line) => looksLikeRelease(line) && isRelease(line));
  const file = video ?? release ?? lines.find((line) => line !== '');
  const other = hintedFolder ?? (file === video && release !== file ? release : undefined);
  return { file, folder: file === undefined || other === undefined || isSameName(other, file) ? undefined : other };
}
