/** Longest path that programs for Windows accept without special preparation. */
const maxWindowsPath = 259;
/** Room for what is added to a name: format, number of a fragment, language and extensions. */
const suffixRoom = 60;
const minNameLength = 30;

/**
 * Returns the options that shorten names of files by the room that the folder leaves on Windows. Other systems limit only
 * the name itself, which the extractor reports.
 */
export function buildNameLimit(folder: string, platform: NodeJS.Platform): readonly string[] {
  if (platform !== 'win32') return [];
  const room = maxWindowsPath - folder.length - suffixRoom;
  return ['--windows-filenames', '--trim-filenames', String(Math.max(minNameLength, room))];
}
