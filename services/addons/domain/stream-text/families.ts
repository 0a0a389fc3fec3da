import { findLanguageByCode3, findLanguageByName, findLanguagesByFlags } from '../languages.ts';
import type { StreamAddon, StreamType } from '../stream.ts';
import { getContentLines, isSameName, isVideoName, looksLikeRelease, splitPath, type FileNames } from './file-names.ts';
import { findLabeledText, findTextAfter } from './text-fields.ts';
import { detectService, type DetectedService } from './detect-service.ts';
import type { SizeBase } from './sizes.ts';

/** Texts of a stream that addons use for facts. */
export interface StreamTexts {
  readonly name: string;
  readonly description: string;
  /** File name in the hints of the stream. */
  readonly hintedName: string | undefined;
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
  readonly service?: (texts: StreamTexts) => DetectedService | undefined;
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

const findFlagsAfter = (text: string, icon: string): readonly string[] => {
  const match = new RegExp(String.raw`${icon}\u{FE0F}?\s*((?:[\u{1F1E6}-\u{1F1FF}]{2}[\s/]*)+)`, 'u').exec(text);
  return match === null ? [] : findLanguagesByFlags(match[1] ?? '');
};

const createLanguageReader =
  (audio: string, subtitles: string) =>
  ({ description }: StreamTexts): ListedLanguages | undefined => {
    const listed = { audio: findFlagsAfter(description, audio), subtitles: findFlagsAfter(description, subtitles) };
    return listed.audio.length + listed.subtitles.length === 0
      ? undefined
      : { ...listed, replaces: listed.audio.length > 0 };
  };

/** Reads the torrent from the first line and the file from the second line. */
function readTorrentLines({ description, hintedName }: StreamTexts): FileNames {
  const [firstLine = '', secondLine = ''] = getContentLines(description);
  const file = hintedName ?? (isVideoName(secondLine) && !isVideoName(firstLine) ? secondLine : undefined);
  if (file === undefined || firstLine === '')
    return { file: firstLine === '' ? undefined : firstLine, folder: undefined };
  return { file, folder: isSameName(file, firstLine) ? undefined : firstLine };
}

/** Reads the file after `📄` and the folder after `📁` or `📂`. Without a folder, either icon marks the file. */
function readIconNames({ description, hintedName }: StreamTexts): FileNames {
  const file = findTextAfter(description, ['📄', '┈➤']);
  const folder = findTextAfter(description, ['📂', '📁'])?.split('┈➤')[0]?.trim();
  const name = hintedName ?? file ?? folder;
  return {
    file: name,
    folder: name === undefined || folder === undefined || isSameName(name, folder) ? undefined : folder,
  };
}

const torrentio: AddonFamily = {
  id: 'torrentio',
  pattern: /torrentio|torrents-?db|knight-?crawler|annatar/i,
  fileNames: readTorrentLines,
  // Flags after "Multi Subs" are subtitle languages.
  languages: ({ description }) => {
    const line = description.trimEnd().split('\n').at(-1) ?? '';
    const separatorIndex = line.search(/multi subs/i);
    return separatorIndex === -1
      ? undefined
      : { audio: [], subtitles: findLanguagesByFlags(line.slice(separatorIndex)), replaces: true };
  },
};

const comet: AddonFamily = {
  id: 'comet',
  pattern: /comet/i,
  fileNames: (texts) => {
    const markedName = findTextAfter(texts.description, ['📄']);
    return markedName === undefined
      ? readTorrentLines(texts)
      : { file: texts.hintedName ?? markedName, folder: findOtherName(texts.hintedName, markedName) };
  },
  indexerIcons: ['🔎', '🔍'],
  isNote: ({ description }) => /digitally released yet\.|Sync debrid account library now/i.test(description),
};

function findOtherName(hintedName: string | undefined, markedName: string): string | undefined {
  return hintedName === undefined || isSameName(hintedName, markedName) ? undefined : markedName;
}

const mediaFusion: AddonFamily = {
  id: 'mediafusion',
  pattern: /media-?fusion/i,
  sizeBase: 1000,
  fileNames: (texts) => (/📂|📄/u.test(texts.description) ? readIconNames(texts) : readTorrentLines(texts)),
  // The globe icon precedes languages in this family.
  indexer: ({ description }) => {
    const contributor = findTextAfter(description, ['🧑‍💻']);
    const indexerParts = [
      findTextAfter(description, ['🔗']),
      contributor === undefined ? undefined : `Contributor|${contributor}`,
    ];
    return indexerParts.filter((part) => part !== undefined).join('|') || undefined;
  },
  languages: ({ description }) => {
    const names = /🌐\s*([^\n]{1,200})/u.exec(description)?.[1]?.split(/[|+,/•]/) ?? [];
    const audio = names.flatMap((name) => findLanguageByName(name.trim()) ?? []);
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
  fileNames: (texts) => (/📄|📁/u.test(texts.description) ? readIconNames(texts) : readTorrentLines(texts)),
  indexerIcons: ['🔍', '🔎'],
  folderSizeIcons: ['📦'],
  languages: createLanguageReader('🎙', '💬'),
  type: ({ name }) => (/usenet/i.test(name) ? 'usenet' : undefined),
  isPrivate: ({ name }) => name.includes('🔑'),
};

const meteor: AddonFamily = {
  id: 'meteor',
  pattern: /meteor/i,
  indexer: ({ description }) => findTextAfter(description, ['🔗', '📰'])?.replace(/^usenet\s*·\s*/i, ''),
  languages: createLanguageReader('🌐', '💬'),
  type: ({ description }) => (/(?:🔗|📰)\s*usenet/iu.test(description) ? 'usenet' : undefined),
  isInLibrary: ({ name }) => name.includes('📫'),
};

const jackettio: AddonFamily = {
  id: 'jackettio',
  pattern: /jackettio|stream-?fusion|peerflix|fk-?stream/i,
  fileNames: readTorrentLines,
};

const torBox: AddonFamily = {
  id: 'torbox',
  pattern: /^torbox(?!-)|stremio\.torbox/i,
  service: ({ name, description }) => ({
    id: 'torbox',
    cached: /instant|your media/i.test(name) || /Click play to start/i.test(description),
  }),
  indexer: ({ description }) => findLabeledText(description, ['Source']),
  type: ({ description }) => {
    const type = findLabeledText(description, ['Type']);
    if (type === undefined) return undefined;
    return /torrent/i.test(type) ? 'debrid' : 'usenet';
  },
  isInLibrary: ({ name, description }) => /your media/i.test(name) || /Click play to start/i.test(description),
};

const dmm: AddonFamily = {
  id: 'dmm-cast',
  pattern: /\bdmm\b|debrid ?media ?manager/i,
  service: ({ name, description }) => {
    const label = /\b(TB|RD|AD|TRB)\b/.exec(`${name} - ${description}`)?.[1];
    if (label === undefined) return undefined;
    return { id: label === 'RD' ? 'realdebrid' : label === 'AD' ? 'alldebrid' : 'torbox', cached: true };
  },
  isInLibrary: ({ description }) => (description.trimEnd().split('\n').at(-1) ?? '').includes('Yours'),
  message: ({ description }) => (description.includes('Cast a file') ? description.slice(0, 200) : undefined),
};

const easynews: AddonFamily = {
  id: 'easynews',
  pattern: /easynews/i,
  type: () => 'usenet',
  service: (texts) => detectService(texts.name, texts.description) ?? { id: 'easynews', cached: true },
  // The globe icon precedes three-letter language codes in this family.
  indexerIcons: ['🔎', '🔍'],
  languages: ({ description }) => {
    const codes = (icon: RegExp): readonly string[] =>
      (icon.exec(description)?.[1] ?? '').split(',').flatMap((code) => findLanguageByCode3(code.trim()) ?? []);
    const listed = { audio: codes(/🌐\s*([^\n]{1,200})/u), subtitles: codes(/💬\s*([^\n]{1,200})/u) };
    return listed.audio.length + listed.subtitles.length === 0 ? undefined : { ...listed, replaces: false };
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
    const sizeLineIndex = lines.findIndex((line) => line.includes('💾'));
    const contentLines = getContentLines(texts.description);
    if (sizeLineIndex < 2) return readTorrentLines(texts);
    return { file: texts.hintedName ?? contentLines[sizeLineIndex - 1], folder: contentLines[0] };
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
    findTextAfter(description, ['🔗']) ?? (name.split('\n')[0]?.split('|')[0]?.split(' - ')[0]?.trim() || undefined),
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

const generalFamily: AddonFamily = { id: 'general', pattern: /(?:)/ };

/** Returns the family of an addon. Unknown addons use the general rules. */
export function findFamily({ presetType, name, manifestUrl }: StreamAddon, streamName: string): AddonFamily {
  const host = URL.parse(manifestUrl)?.hostname ?? '';
  const path = URL.parse(manifestUrl)?.pathname.slice(0, 60) ?? '';
  for (const text of [presetType === 'custom' ? '' : presetType, name, host, path, streamName]) {
    const family = text === '' ? undefined : families.find(({ pattern }) => pattern.test(text));
    if (family !== undefined) return family;
  }
  return generalFamily;
}

/** Reads the names of the file and its folder by the general rules. */
export function readGeneralNames(
  { description, hintedName, hintedFolder }: StreamTexts,
  isRelease: (line: string) => boolean,
): FileNames {
  const lines = getContentLines(description);
  if (hintedName !== undefined) {
    const { file = hintedName, folder } = splitPath(hintedName);
    const firstLine = lines[0] ?? '';
    const folderName = hintedFolder ?? folder ?? (looksLikeRelease(firstLine) ? firstLine : undefined);
    return { file, folder: folderName === undefined || isSameName(folderName, file) ? undefined : folderName };
  }
  const video = lines.find((line) => isVideoName(line));
  const release = lines.find((line) => looksLikeRelease(line) && isRelease(line));
  const file = video ?? release ?? lines.find((line) => line !== '');
  const releaseFolder = hintedFolder ?? (file === video && release !== file ? release : undefined);
  return {
    file,
    folder:
      file === undefined || releaseFolder === undefined || isSameName(releaseFolder, file) ? undefined : releaseFolder,
  };
}
