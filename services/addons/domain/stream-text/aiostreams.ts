import type { AddonFamily, StreamTexts } from './addon-family.ts';
import { detectService, type DetectedService } from './detect-service.ts';
import { beginsWithName, isVideoName } from './file-names.ts';
import { findLanguageNames, readTorrentLines } from './name-readers.ts';
import { findLabeledText, findTextAfter } from './text-fields.ts';

/** Matches the line of the service in the formats Prism and Tamtaro, whose names do not contain it. */
const serviceLine = /^[ \t]*([⚡❌⛉][^\n]*)/mu;

function findServiceLine(description: string): string | undefined {
  return serviceLine.exec(description)?.[1];
}

function readService({ name, description }: StreamTexts): DetectedService | undefined {
  const line = findServiceLine(description);
  if (line === undefined) return detectService(name, description);
  // Only Tamtaro has the mark in the name. In Prism a rocket in the name denotes the resolution.
  return detectService(line.startsWith('⛉') ? `${line} ${name}` : line, '') ?? detectService(name, description);
}

/** Streams of another aggregator in one of its predefined formats. */
export const aioStreams: AddonFamily = {
  id: 'aiostreams',
  pattern: /aiostreams|homeport/i,
  fileNames: (texts) => {
    const { description, hintedName } = texts;
    const markedName = findTextAfter(description, ['📁', '📄']) ?? findLabeledText(description, ['Name']);
    const isMarked = markedName !== undefined && isVideoName(markedName);
    const file = hintedName ?? (isMarked ? markedName : undefined);
    if (file !== undefined && (isMarked || !beginsWithName(description))) return { file, folder: undefined };
    return readTorrentLines(texts);
  },
  service: readService,
  indexer: ({ description }) => {
    const isPrism = /^[⚡❌]/u.test(findServiceLine(description) ?? '');
    return findTextAfter(description, isPrism ? ['📡'] : ['📡', '🔍', '⚙']) ?? findLabeledText(description, ['Source']);
  },
  languages: ({ description }) => {
    const audio = findLanguageNames(description, /(?:🌎|🌐|🗣|\bLanguages:)\u{FE0F}?\s*([^\n]{1,200})/u);
    return audio.length === 0 ? undefined : { audio, subtitles: [], replaces: false };
  },
};
