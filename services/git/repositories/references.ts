import type { Git } from '../engine/git.ts';

/** Reference to an object. */
export interface Reference {
  readonly ref: string;
  /** ID of the referenced object. For an annotated tag, the ID of the tag object. */
  readonly id: string;
  readonly type: 'commit' | 'tag' | 'tree' | 'blob';
  /** Commit that an annotated tag finally refers to; otherwise the same as `id`. */
  readonly commit: string;
}

const format = '%(objectname) %(objecttype) %(*objectname) %(*objecttype) %(refname)';

/** Lists references below a prefix, ordered by name. */
export async function readReferences(git: Git, folder: string, prefix: string): Promise<readonly Reference[]> {
  const lines = await git.lines(folder, ['for-each-ref', `--format=${format}`, '--', prefix]);
  const nestedTags: string[] = [];
  const references = lines.map((line) => {
    const [id = '', type = 'commit', peeled = '', peeledType = '', ...ref] = line.split(' ');
    if (peeledType === 'tag') nestedTags.push(peeled);
    return { ref: ref.join(' '), id, type: type as Reference['type'], commit: peeled === '' ? id : peeled };
  });
  const targets = await resolveNestedTags(git, folder, nestedTags);
  return references.map((reference) => ({ ...reference, commit: targets.get(reference.commit) ?? reference.commit }));
}

/** Resolves tags that refer to tags. `for-each-ref` follows only one level. */
async function resolveNestedTags(
  git: Git,
  folder: string,
  tags: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (tags.length === 0) return new Map();
  const input = tags.map((id) => `${id}^{}\n`).join('');
  const targets = await git.lines(folder, ['cat-file', '--batch-check=%(objectname)'], { input });
  return new Map(tags.map((id, index) => [id, /^[0-9a-f]{40}$/.exec(targets[index] ?? '')?.[0] ?? id]));
}

/** Returns the size on disk in KiB. */
export async function readSize(git: Git, folder: string): Promise<number> {
  return (await readCounts(git, folder)).size;
}

/** Counts the loose and packed objects of a repository. */
export async function readCounts(git: Git, folder: string) {
  const lines = await git.lines(folder, ['count-objects', '-v']);
  const getCount = (name: string): number =>
    Number(lines.find((line) => line.startsWith(`${name}: `))?.split(' ')[1] ?? 0);
  const size = getCount('size') + getCount('size-pack') + getCount('size-garbage');
  return { loose: getCount('count'), packs: getCount('packs'), packed: getCount('in-pack'), size };
}
