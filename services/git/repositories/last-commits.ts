import { isTooMuch, type Git } from '../engine/git.ts';
import { readLog, type Commit } from './commits.ts';

/** Maximum number of cached results. They never change because the keys are object IDs. */
const mostKept = 5000;
/** Maximum number of entries of a folder that are resolved. */
const mostEntries = 300;
/** Number of commits that are searched for all entries together. The remaining entries are then resolved separately. */
const windowSize = 400;

/** Finds the latest commit that changed a file. */
export class LastCommits {
  readonly #git: Git;
  readonly #kept = new Map<string, Commit>();

  constructor(git: Git) {
    this.#git = git;
  }

  /** Returns the latest commit as seen from the commit `from`, or undefined if the file never existed. */
  async of(folder: string, from: string, path: string): Promise<Commit | undefined> {
    const key = `${folder}\0${from}\0${path}`;
    const kept = this.#kept.get(key);
    if (kept !== undefined) return kept;
    const [commit] = await readLog(this.#git, folder, { from: [from], path, limit: 1 });
    if (commit !== undefined) this.#keep(key, commit);
    return commit;
  }

  /**
   * Returns the latest commits of the entries of a folder by path. Most are found in one walk through the newest
   * commits.
   */
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
    // A merge without changes of its own does not count as a change of a file.
    const plain = commits.filter(({ parents }) => parents.length < 2);
    const depth = parent === '' ? 1 : parent.split('/').length + 1;
    // Entries of the root folder are compared without recursion.
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
      // Resolve each entry separately in this case.
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
