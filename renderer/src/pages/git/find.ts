import { gitApi } from '../../../../services/contracts/git/api.ts';
import { call } from '../../api/call.ts';
import type { Find } from '../../state/find.ts';
import { hrefOf } from './repository-links.ts';

const shown = 6;

/** Repositories by their names. */
const find: Find = async (words, signal) => {
  const { repositories } = await call(gitApi.list, { query: { q: words, sort: 'updated' }, signal });
  const found = repositories.slice(0, shown).map((repository) => ({
    ...{ id: `repository-${repository.owner}-${repository.name}`, title: `${repository.owner}/${repository.name}` },
    ...{ icon: 'git' as const, to: hrefOf(repository) },
  }));
  return [{ title: 'Repositories', found }];
};

export default (): Find => find;
