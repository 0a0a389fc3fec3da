import { findLanguageByCode3, findLanguagesByFlags } from '../languages.ts';
import type { StreamAddon } from '../stream.ts';
import type { AddonFamily, ListedLanguages, StreamTexts } from './addon-family.ts';
import { aioStreams } from './aiostreams.ts';
import { detectService } from './detect-service.ts';
import {
  beginsWithName,
  getContentLines,
  isSameName,
  isVideoName,
  looksLikeRelease,
  splitPath,
  type FileNames,
} from './file-names.ts';
import { findLanguageNames, readIconNames, readTorrentLines } from './name-readers.ts';
import { findLabeledText, findTextAfter } from './text-fields.ts';

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

/** Words between the flags of a Torrentio stream. */
const audioMarks = new Map([
  ['multi audio', 'Multi'],
  ['dual audio', 'Dual Audio'],
  ['dubbed', 'Dubbed'],
]);

const torrentio: AddonFamily = {
  id: 'torrentio',
  pattern: /torrentio|torrents-?db|knight-?crawler|annatar/i,
  fileNames: readTorrentLines,
  // Flags after "Multi Subs" are subtitle languages.
  languages: ({ description }) => {
    const line = description.trimEnd().split('\n').at(-1) ?? '';
    const separatorIndex = line.search(/multi subs/i);
    if (separatorIndex !== -1)
      return { audio: [], subtitles: findLanguagesByFlags(line.slice(separatorIndex)), replaces: true };
    const audio = line.split(' / ').flatMap((part) => audioMarks.get(part.trim().toLowerCase()) ?? []);
    return audio.length === 0 ? undefined : { audio, subtitles: [], replaces: false };
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
    const audio = findLanguageNames(description, /🌐\s*([^\n]{1,200})/u);
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
  indexerIcons: ['🔍', '🔎', '⚙'],
  folderSizeIcons: ['📦'],
  languages: createLanguageReader('🎙', '💬'),
  type: ({ name }) => (/usenet|newz/i.test(name) ? 'usenet' : undefined),
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
  aioStreams,
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
    const folderName =
      hintedFolder ?? folder ?? (beginsWithName(description) && looksLikeRelease(firstLine) ? firstLine : undefined);
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
