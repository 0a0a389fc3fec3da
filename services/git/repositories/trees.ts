import type { Objects } from './objects.ts';

/** Entry of a folder in a commit. */
export interface TreeEntry {
  readonly mode: string;
  readonly type: 'blob' | 'tree' | 'commit';
  readonly id: string;
  readonly name: string;
}

/** Lists the entries of a tree by any revision name. Returns undefined if it does not exist. */
export async function readTree(
  objects: Objects,
  folder: string,
  name: string,
): Promise<readonly TreeEntry[] | undefined> {
  const info = await objects.info(folder, name);
  // Commits and tags are peeled to their tree.
  const id = info?.type === 'commit' || info?.type === 'tag' ? `${info.id}^{tree}` : info?.id;
  const found = id === undefined ? undefined : await objects.contents(folder, id);
  return found?.type === 'tree' ? parseTree(found.bytes) : undefined;
}

function parseTree(bytes: Buffer): readonly TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at);
    const end = bytes.indexOf(0, space);
    const mode = bytes.toString('latin1', at, space).padStart(6, '0');
    const id = bytes.toString('hex', end + 1, end + 21);
    entries.push({ mode, type: typeOf(mode), id, name: bytes.toString('utf8', space + 1, end) });
    at = end + 21;
  }
  return entries;
}

function typeOf(mode: string): TreeEntry['type'] {
  if (mode === '040000') return 'tree';
  return mode === '160000' ? 'commit' : 'blob';
}
