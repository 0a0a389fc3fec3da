import { SvelteMap } from 'svelte/reactivity';
import type { GitRepository } from '../../../../../services/contracts/git/api.ts';
import { gitInsightsApi, type GitLanguage } from '../../../../../services/contracts/git/insights-api.ts';
import { call } from '../../../api/call.ts';

/** Maximum number of repositories in one call. */
const maxIds = 50;

/** Languages of listed repositories, loaded after the list because the host may have to count them. */
export class RepositoryLanguages {
  readonly #languages = new SvelteMap<number, readonly GitLanguage[]>();

  get(id: number): readonly GitLanguage[] {
    return this.#languages.get(id) ?? [];
  }

  async load(repositories: readonly GitRepository[]): Promise<void> {
    const ids = repositories.filter(({ empty }) => !empty).map(({ id }) => id);
    for (let start = 0; start < ids.length; start += maxIds) {
      try {
        const query = { ids: ids.slice(start, start + maxIds).join(',') };
        const reply = await call(gitInsightsApi.listLanguages, { query });
        for (const { id, languages } of reply.repositories) this.#languages.set(id, languages);
      } catch {
        // The repositories are listed without their languages.
        return;
      }
    }
  }
}
