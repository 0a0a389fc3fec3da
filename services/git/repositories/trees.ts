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
  const tree = id === undefined ? undefined : await objects.contents(folder, id);
  return tree?.type === 'tree' ? parseTree(tree.bytes) : undefined;
}

function parseTree(bytes: Buffer): readonly TreeEntry[] {
  const entries: TreeEntry[] = [];
  for (let offset = 0; offset < bytes.length;) {
    const space = bytes.indexOf(0x20, offset);
    const nameEnd = bytes.indexOf(0, space);
    const mode = bytes.toString('latin1', offset, space).padStart(6, '0');
    const id = bytes.toString('hex', nameEnd + 1, nameEnd + 21);
    entries.push({ mode, type: getEntryType(mode), id, name: bytes.toString('utf8', space + 1, nameEnd) });
    offset = nameEnd + 21;
  }
  return entries;
}

function getEntryType(mode: string): TreeEntry['type'] {
  if (mode === '040000') return 'tree';
  return mode === '160000' ? 'commit' : 'blob';
}
