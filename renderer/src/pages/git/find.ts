import { gitApi } from '../../../../services/contracts/git/api.ts';
import { call } from '../../api/call.ts';
import type { PaletteSearch } from '../../state/palette-search.ts';
import { hrefOf } from './places.ts';

const shown = 6;

/** Repositories by their names. */
const find: PaletteSearch = async (words, signal) => {
  const { repositories } = await call(gitApi.list, { query: { q: words, sort: 'updated' }, signal });
  const results = repositories.slice(0, shown).map((repository) => ({
    id: `repository-${repository.owner}-${repository.name}`,
    title: `${repository.owner}/${repository.name}`,
    icon: 'git' as const,
    to: hrefOf(repository),
  }));
  return [{ title: 'Repositories', results }];
};

export default (): PaletteSearch => find;
