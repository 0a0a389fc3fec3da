import type { Git } from '../engine/git.ts';

/** A name for an object. */
export interface Reference {
  readonly ref: string;
  /** What it names: for an annotated tag the tag itself. */
  readonly id: string;
  readonly type: 'commit' | 'tag' | 'tree' | 'blob';
  /** For an annotated tag the commit that it names at last, else the same as `id`. */
  readonly commit: string;
}

const format = '%(objectname) %(objecttype) %(*objectname) %(refname)';

/** References whose name begins with the parts of `prefix`, by name. */
export async function readReferences(git: Git, folder: string, prefix: string): Promise<readonly Reference[]> {
  const lines = await git.lines(folder, ['for-each-ref', `--format=${format}`, '--', prefix]);
  return lines.map((line) => {
    const [id = '', type = 'commit', peeled = '', ...ref] = line.split(' ');
    return { ref: ref.join(' '), id, type: type as Reference['type'], commit: peeled === '' ? id : peeled };
  });
}

/** KiB on disk. */
export async function sizeOf(git: Git, folder: string): Promise<number> {
  const lines = await git.lines(folder, ['count-objects', '-v']);
  const kib = (name: string): number => Number(lines.find((line) => line.startsWith(`${name}: `))?.split(' ')[1] ?? 0);
  return kib('size') + kib('size-pack') + kib('size-garbage');
}
