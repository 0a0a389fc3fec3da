import type { RepositoryManager, RepositoryChange } from '../repositories/repository-manager.ts';
import type { Repository } from '../repositories/repositories.ts';

/** Applies the push options (`-o`) of the repository that Gitea supports. Other options are ignored. */
export function createPushOptionHandler(
  manager: RepositoryManager,
): (repository: Repository, options: readonly string[]) => Promise<void> {
  return async ({ id }, options) => {
    const change: RepositoryChange = {};
    for (const option of options) {
      const [name, value = 'true'] = option.split('=', 2);
      if (name === 'repo.private') change.private = Number(isTrue(value));
      if (name === 'repo.template') change.template = Number(isTrue(value));
    }
    if (Object.keys(change).length > 0) await manager.change(id, change);
  };
}

function isTrue(text: string): boolean {
  return /^(true|1|yes|on)$/i.test(text);
}
