import type { Download } from '../../../../../services/contracts/downloads/api.ts';

/**
 * Formats the folder and, unless a column shows it, the file type of a finished download, such as `Kitchen · MP4`. The
 * full path is returned when the file name differs from the title in more than the characters that file systems do not
 * allow.
 */
export function describeFile(
  { title, filename }: Pick<Download, 'title' | 'filename'>,
  { withType = true }: { readonly withType?: boolean } = {},
): string {
  const [, folder = '', stem = '', extension = ''] = /^(?:(.*)\/)?([^/]*?)(?:\.([^./]+))?$/.exec(filename ?? '') ?? [];
  if (extension === '' || normalizeLetters(stem) !== normalizeLetters(title)) return filename ?? '';
  return [folder, withType ? extension.toUpperCase() : ''].filter((part) => part !== '').join(' · ');
}

function normalizeLetters(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
