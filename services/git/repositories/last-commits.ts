import { isOutputTooLarge, type Git } from '../engine/git.ts';
import { readLog, type Commit } from './commits.ts';

/** Maximum number of cached results. They never change because the keys are object IDs. */
const maxCached = 5000;
/** Maximum number of entries of a folder that are resolved. */
const maxEntries = 300;
/** Number of commits that are searched for all entries together. The remaining entries are then resolved separately. */
const windowSize = 400;

/** Finds the latest commit that changed a file. */
export class LastCommits {
  readonly #git: Git;
  readonly #cache = new Map<string, Commit>();

  constructor(git: Git) {
    this.#git = git;
  }

  /** Returns the latest commit as seen from the commit `from`, or undefined if the file never existed. */
  async find(folder: string, from: string, path: string): Promise<Commit | undefined> {
    const key = `${folder}\0${from}\0${path}`;
    const cached = this.#cache.get(key);
    if (cached !== undefined) return cached;
    const [commit] = await readLog(this.#git, folder, { from: [from], path, limit: 1 });
    if (commit !== undefined) this.#store(key, commit);
    return commit;
  }

  /**
   * Returns the latest commits of the entries of a folder by path. Most are found in one walk through the newest
   * commits.
   */
  async findForEntries(
    folder: string,
    from: string,
    parent: string,
    names: readonly string[],
  ): Promise<ReadonlyMap<string, Commit>> {
    const prefix = parent === '' ? '' : `${parent}/`;
    const paths = names.slice(0, maxEntries).map((name) => `${prefix}${name}`);
    const commitsByPath = new Map<string, Commit>();
    for (const path of paths) {
      const cached = this.#cache.get(`${folder}\0${from}\0${path}`);
      if (cached !== undefined) commitsByPath.set(path, cached);
    }
    if (paths.some((path) => !commitsByPath.has(path)))
      await this.#walk(folder, from, parent, new Set(paths), commitsByPath);
    for (const path of paths) {
      if (commitsByPath.has(path)) continue;
      const commit = await this.find(folder, from, path);
      if (commit !== undefined) commitsByPath.set(path, commit);
    }
    for (const [path, commit] of commitsByPath) this.#store(`${folder}\0${from}\0${path}`, commit);
    return commitsByPath;
  }

  async #walk(
    folder: string,
    from: string,
    parent: string,
    paths: ReadonlySet<string>,
    commitsByPath: Map<string, Commit>,
  ): Promise<void> {
    const commits = await readLog(this.#git, folder, { from: [from], path: parent, limit: windowSize });
    const byId = new Map(commits.map((commit) => [commit.id, commit]));
    // A merge without changes of its own does not count as a change of a file.
    const nonMerges = commits.filter(({ parents }) => parents.length < 2);
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
    const options = { input: nonMerges.map(({ id }) => `${id}\n`).join(''), limitedMemory: true };
    const { stdout } = await this.#git.run(folder, args, options).catch((error: unknown) => {
      if (!isOutputTooLarge(error)) throw error;
      // Resolve each entry separately in this case.
      return { stdout: Buffer.alloc(0) };
    });
    let current: Commit | undefined;
    for (const token of stdout.toString().split('\0')) {
      const commit = byId.get(token);
      if (commit !== undefined) current = commit;
      else if (current !== undefined) {
        const path = token.split('/').slice(0, depth).join('/');
        if (paths.has(path) && !commitsByPath.has(path)) commitsByPath.set(path, current);
      }
    }
  }

  #store(key: string, commit: Commit): void {
    if (this.#cache.size >= maxCached) this.#cache.clear();
    this.#cache.set(key, commit);
  }
}
