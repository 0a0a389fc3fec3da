import { isTooMuch, type Git } from '../engine/git.ts';
import { readLog, type Commit } from './commits.ts';

/** Answers that are remembered; they never change, since they are asked by ids. */
const mostKept = 5000;
/** A folder with more entries is looked through no further. */
const mostEntries = 300;
/** How many commits are looked at for the entries of a folder, before each is asked by itself. */
const windowSize = 400;

/** Which commit changed a file last. */
export class LastCommits {
  readonly #git: Git;
  readonly #kept = new Map<string, Commit>();

  constructor(git: Git) {
    this.#git = git;
  }

  /** Seen from a commit. Undefined where there never was such a file. */
  async of(folder: string, from: string, path: string): Promise<Commit | undefined> {
    const key = `${folder}\0${from}\0${path}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const [commit] = await readLog(this.#git, folder, { from: [from], path, limit: 1 });
    if (commit !== undefined) this.#keep(key, commit);
    return commit;
  }

  /** For the entries of a folder, by their path. Most are found in one walk through the newest commits. */
  async ofEntries(
    folder: string,
    from: string,
    parent: string,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, Commit>> {
    const prefix = parent === '' ? '' : `${parent}/`;
    const wanted = names.slice(0, mostEntries).map((name) => `${prefix}${name}`);
    const found = new Map<string, Commit>();
    for (const path of wanted) {
      const kept = this.#kept.get(`${folder}\0${from}\0${path}`);
      if (kept !== undefined) found.set(path, kept);
    }
    if (wanted.some((path) => !found.has(path))) await this.#walk(folder, from, parent, new Set(wanted), found);
    for (const path of wanted) {
      if (found.has(path)) continue;
      const commit = await this.of(folder, from, path);
      if (commit !== undefined) found.set(path, commit);
    }
    for (const [path, commit] of found) this.#keep(`${folder}\0${from}\0${path}`, commit);
    return found;
  }

  async #walk(
    folder: string,
    from: string,
    parent: string,
    wanted: ReadonlySet<string>,
    found: Map<string, Commit>,
  ): Promise<void> {
    const commits = await readLog(this.#git, folder, { from: [from], path: parent, limit: windowSize });
    const byId = new Map(commits.map((commit) => [commit.id, commit]));
    // A merge that brings nothing of its own is no change of a file.
    const plain = commits.filter(({ parents }) => parents.length < 2);
    const depth = parent === '' ? 1 : parent.split('/').length + 1;
    // Of the first folder the names that stand in it are enough.
    const args = [
      'diff-tree',
      '--stdin',
      '-z',
      ...(parent === '' ? [] : ['-r']),
      '--root',
      '--name-only',
      '--no-renames',
    ];
    const options = { input: plain.map(({ id }) => `${id}\n`).join(''), modest: true };
    const { stdout } = await this.#git.run(folder, args, options).catch((error: unknown) => {
      if (!isTooMuch(error)) throw error;
      // Each is asked for by itself then.
      return { stdout: Buffer.alloc(0) };
    });
    let at: Commit | undefined;
    for (const token of stdout.toString().split('\0')) {
      const commit = byId.get(token);
      if (commit !== undefined) at = commit;
      else if (at !== undefined) {
        const path = token.split('/').slice(0, depth).join('/');
        if (wanted.has(path) && !found.has(path)) found.set(path, at);
      }
    }
  }

  #keep(key: string, commit: Commit): void {
    if (this.#kept.size >= mostKept) this.#kept.clear();
    this.#kept.set(key, commit);
  }
}
