import { getMaxPathLength } from '../../kit/platform/file-systems.ts';

/** Room for what is added to a name: format, number of a fragment, language and extensions. */
const suffixRoom = 60;
const minNameLength = 30;

/**
 * Returns the options that shorten names of files by the room that the folder leaves on Windows. Other systems limit only
 * the name itself, which the extractor reports.
 */
export function buildNameLimit(folder: string, platform: NodeJS.Platform): readonly string[] {
  const maxPathLength = getMaxPathLength(platform);
  if (maxPathLength === undefined) return [];
  const maxNameLength = Math.max(minNameLength, maxPathLength - folder.length - suffixRoom);
  return ['--windows-filenames', '--trim-filenames', String(maxNameLength)];
}
