import { findLanguageByName } from '../languages.ts';
import type { StreamTexts } from './addon-family.ts';
import { getContentLines, isSameName, isVideoName, type FileNames } from './file-names.ts';
import { findTextAfter } from './text-fields.ts';

/** Returns the languages of a list of English names, such as `English + Hindi`. */
export function findLanguageNames(description: string, pattern: RegExp): readonly string[] {
  const names = pattern.exec(description)?.[1]?.split(/[|+,/•]/) ?? [];
  return names.flatMap((name) => findLanguageByName(name.trim()) ?? []);
}

/** Reads the torrent from the first line and the file from the second line. */
export function readTorrentLines({ description, hintedName }: StreamTexts): FileNames {
  const [firstLine = '', secondLine = ''] = getContentLines(description);
  const file = hintedName ?? (isVideoName(secondLine) && !isVideoName(firstLine) ? secondLine : undefined);
  if (file === undefined || firstLine === '')
    return { file: firstLine === '' ? undefined : firstLine, folder: undefined };
  return { file, folder: isSameName(file, firstLine) ? undefined : firstLine };
}

/** Reads the file after `📄` and the folder after `📁` or `📂`. Without a folder, either icon marks the file. */
export function readIconNames({ description, hintedName }: StreamTexts): FileNames {
  const file = findTextAfter(description, ['📄', '┈➤']);
  const folder = findTextAfter(description, ['📂', '📁'])?.split('┈➤')[0]?.trim();
  const name = hintedName ?? file ?? folder;
  return {
    file: name,
    folder: name === undefined || folder === undefined || isSameName(name, folder) ? undefined : folder,
  };
}
