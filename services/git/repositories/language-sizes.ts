import { findLanguage } from '../domain/languages.ts';
import type { Git } from '../engine/git.ts';

/** Maximum number of cached results. */
const maxCachedResults = 500;

/** Size in bytes by language, largest first. */
export type LanguageSizeMap = Readonly<Record<string, number>>;

/** Counts the bytes of each language in a commit. Results are cached, because a commit never changes. */
export class LanguageSizes {
  readonly #git: Git;
  readonly #cache = new Map<string, LanguageSizeMap>();

  constructor(git: Git) {
    this.#git = git;
  }

  /** Returns the bytes of each language at a commit, largest first. */
  async read(folder: string, commit: string): Promise<LanguageSizeMap> {
    const sizes = this.#cache.get(commit) ?? (await this.#count(folder, commit));
    const [oldest] = this.#cache.keys();
    if (this.#cache.size >= maxCachedResults && oldest !== undefined) this.#cache.delete(oldest);
    this.#cache.set(commit, sizes);
    return sizes;
  }

  async #count(folder: string, commit: string): Promise<LanguageSizeMap> {
    const files: (readonly [id: string, language: string])[] = [];
    const { stdout } = await this.#git.run(folder, ['ls-tree', '-r', '-z', commit]);
    for (const line of stdout.toString().split('\0')) {
      const [, id = '', path = ''] = /^100\d{3} blob ([0-9a-f]+)\t(.*)$/s.exec(line) ?? [];
      const language = path === '' ? undefined : findLanguage(path);
      if (language !== undefined) files.push([id, language]);
    }
    const ids = [...new Set(files.map(([id]) => id))];
    const check = ['cat-file', '--buffer', '--batch-check=%(objectsize)'];
    const lines = ids.length === 0 ? [] : await this.#git.lines(folder, check, { input: `${ids.join('\n')}\n` });
    const bytes = new Map(ids.map((id, index) => [id, Number(lines[index]) || 0]));
    const sizes = new Map<string, number>();
    for (const [id, language] of files) sizes.set(language, (sizes.get(language) ?? 0) + (bytes.get(id) ?? 0));
    return Object.fromEntries([...sizes].toSorted(([, one], [, other]) => other - one));
  }
}
