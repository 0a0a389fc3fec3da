import type { Download } from '../../../../services/contracts/downloads/api.ts';

/**
 * What a finished file's path tells beside the title: where it was put and what kind of file it is. A name that says the title
 * once more, with signs that files may not have in place of some of its own, is left out: `Kitchen · MP4`.
 */
export function fileWords({ title, filename }: Pick<Download, 'title' | 'filename'>): string {
  const [, folder = '', stem = '', kind = ''] = /^(?:(.*)\/)?([^/]*?)(?:\.([^./]+))?$/.exec(filename ?? '') ?? [];
  if (kind === '' || letters(stem) !== letters(title)) return filename ?? '';
  return folder === '' ? kind.toUpperCase() : `${folder} · ${kind.toUpperCase()}`;
}

function letters(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}
